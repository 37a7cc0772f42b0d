//! Rows of PostgreSQL with one bit changed: what that changes is found, or it changes nothing.

use pollster::block_on;
use turnkeep_store::StoreExt;
use turnkeep_testkit::Home;
use turnkeep_testkit::laws::store::{id, talk};

use crate::flip::{Tally, fill, judge, told, usual_or_all};
use crate::postgres::{home, psql, try_psql};

/// Tables in an order in which they can be filled.
const TABLES: [&str; 6] = ["session", "fork", "batch", "body", "head", "words"];

/// A column of a table, and what it holds.
struct Column {
    table: String,
    name: String,
    kind: String,
}

fn columns(home: &Home) -> Vec<Column> {
    let rows = psql(
        home,
        "SELECT table_name, column_name, data_type FROM information_schema.columns \
         WHERE table_schema = current_schema() AND is_generated = 'NEVER' \
         AND table_name IN ('session', 'fork', 'batch', 'body', 'head', 'words') ORDER BY table_name, ordinal_position",
    );
    let column = |row: &str| {
        let mut parts = row.split('|').map(str::to_owned);
        Column { table: parts.next().unwrap(), name: parts.next().unwrap(), kind: parts.next().unwrap() }
    };
    rows.lines().map(column).collect()
}

/// Statements that put every table back as it was kept.
fn restoring(columns: &[Column]) -> String {
    let mut text = format!("TRUNCATE {};", TABLES.join(", "));
    for table in TABLES {
        let names = columns.iter().filter(|column| column.table == table).map(|column| column.name.as_str());
        let names = names.collect::<Vec<_>>().join(", ");
        text.push_str(&format!(
            "INSERT INTO {table} ({names}) OVERRIDING SYSTEM VALUE SELECT {names} FROM kept_{table};"
        ));
    }
    text
}

/// What a column holds with one bit changed, for every bit that is tried. Ids are what sessions are called, and numbers of
/// rows hold the tables together: the database itself guards both.
fn changed(Column { table, name, kind }: &Column) -> Vec<String> {
    if name == "sid" || (table == "session" && name == "id") {
        return Vec::new();
    }
    match kind.as_str() {
        "bigint" => [0, 2, 9, 40].map(|bit| format!("{name} # (1::bigint << {bit})")).to_vec(),
        "integer" | "smallint" => [0, 2].map(|bit| format!("{name} # {}::{kind}", 1 << bit)).to_vec(),
        "bytea" => {
            let place = |part: usize| format!("(length({name}) - 1) * {part} / 7");
            let set = |part| format!("set_byte({name}, {0}, get_byte({name}, {0}) # {1})", place(part), 1 << part);
            (0..8).map(set).collect()
        }
        "text" => vec![format!("left({name}, -1) || chr(ascii(right({name}, 1)) # 1)")],
        "tsvector" => vec![format!("array_to_tsvector(array_append(tsvector_to_array({name}), 'zebra'))")],
        _ => Vec::new(),
    }
}

/// Every change of one bit in one row.
fn changes(home: &Home, columns: &[Column]) -> Vec<String> {
    let mut changes = Vec::new();
    for column in columns {
        let Column { table, name, .. } = column;
        let rows: usize = psql(home, &format!("SELECT count(*) FROM {table}")).parse().unwrap();
        for (row, value) in (0..rows).flat_map(|row| changed(column).into_iter().map(move |value| (row, value))) {
            changes.push(format!(
                "UPDATE {table} SET {name} = {value} WHERE {name} IS NOT NULL \
                 AND ctid = (SELECT ctid FROM {table} ORDER BY ctid OFFSET {row} LIMIT 1)"
            ));
        }
    }
    changes
}

#[test]
fn a_bit_that_changes_in_any_row_is_noticed() {
    let Some(home) = home() else { return };
    let store = home.open();
    fill(&*store);
    block_on(talk(&*store, &id("long"), 9));
    // Heads are saved beside everything else.
    while psql(&home, "SELECT count(*) FROM head") == "0" {
        block_on(store.load_window(&id("long"), 1)).unwrap();
    }
    drop(store);
    let before = block_on(told(&*home.open())).unwrap();
    for table in TABLES {
        assert_ne!(psql(&home, &format!("SELECT count(*) FROM {table}")), "0", "{table}");
        psql(&home, &format!("CREATE TABLE kept_{table} AS SELECT * FROM {table}"));
    }
    let columns = columns(&home);
    let restoring = restoring(&columns);
    let changes = changes(&home, &columns);
    assert!(changes.len() > 1000, "{} changes", changes.len());
    let mut tally = Tally::default();

    for change in changes.iter().step_by(usual_or_all(47, 1)) {
        psql(&home, &restoring);
        // What the database refuses cannot happen to its rows.
        if try_psql(&home, change).is_ok() {
            tally.count(change.clone(), judge(&home, &before));
        }
    }

    tally.is_loud("rows");
}

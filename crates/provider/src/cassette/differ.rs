//! What differs between a request and what was recorded, by path and never by content.

use turnkeep_model::json::{Json, Object};

use super::content::Content;
use super::exchange::{Asked, Exchange};

/// So many differences are told.
const MOST: usize = 8;

/// What to say where no recorded exchange answers a request.
pub(super) fn told<'a>(asked: &Asked, recorded: impl Iterator<Item = &'a Exchange> + Clone) -> String {
    let same = recorded.clone().filter(|exchange| exchange.asked.is_same(asked)).count();
    if same > 0 {
        return format!("the cassette answers this request {same} times, and it is made once more");
    }
    let there =
        recorded.clone().filter(|exchange| exchange.asked.method == asked.method && exchange.asked.url == asked.url);
    let nearest = there.map(|exchange| (differences(exchange, asked), exchange));
    let nearest = nearest.min_by_key(|(found, _)| found.iter().map(|difference| difference.weight).sum::<usize>());
    match nearest {
        Some((found, exchange)) => {
            let more = found.len().saturating_sub(MOST);
            let mut lines: Vec<String> = found.into_iter().take(MOST).map(|difference| difference.told).collect();
            if more > 0 {
                lines.push(format!("and {more} more"));
            }
            format!(
                "the cassette has no such request; exchange {} comes nearest, and differs in: {}",
                exchange.number,
                lines.join("; ")
            )
        }
        None => elsewhere(asked, recorded),
    }
}

fn elsewhere<'a>(asked: &Asked, recorded: impl Iterator<Item = &'a Exchange>) -> String {
    let mut places: Vec<&str> = recorded.map(|exchange| exchange.asked.url.as_str()).collect();
    places.dedup();
    match places.as_slice() {
        [] => "the cassette is empty".to_owned(),
        [only] => format!("the cassette has no request to {}; it was recorded with {only}", asked.url),
        [first, ..] => format!("the cassette has no request to {}; it has {first} and others", asked.url),
    }
}

/// One difference, and how many values it concerns.
struct Difference {
    told: String,
    weight: usize,
}

fn differences(exchange: &Exchange, asked: &Asked) -> Vec<Difference> {
    match (&exchange.asked.body, &asked.body) {
        (Content::Json(recorded), Content::Json(asked)) => {
            let mut found = Vec::new();
            compare("", recorded, asked, &mut found);
            found
        }
        (recorded, asked) => {
            let (before, now) = (recorded.to_bytes().len(), asked.to_bytes().len());
            vec![one(format!("the body ({before} bytes recorded, {now} asked)"))]
        }
    }
}

fn compare(path: &str, recorded: &Json, asked: &Json, found: &mut Vec<Difference>) {
    match (recorded, asked) {
        (Json::Object(recorded), Json::Object(asked)) => compare_objects(path, recorded, asked, found),
        (Json::Array(recorded), Json::Array(asked)) => {
            for (index, (a, b)) in recorded.iter().zip(asked).enumerate() {
                compare(&format!("{path}[{index}]"), a, b, found);
            }
            if recorded.len() != asked.len() {
                let told = format!("`{path}` ({} elements recorded, {} asked)", recorded.len(), asked.len());
                let shorter = recorded.len().min(asked.len());
                let weight = recorded.iter().skip(shorter).chain(asked.iter().skip(shorter)).map(values).sum();
                found.push(Difference { told, weight });
            }
        }
        (a, b) if turnkeep_model::canon::canonical(a) == turnkeep_model::canon::canonical(b) => {}
        (Json::String(a), Json::String(b)) => {
            let (a, b) = (a.to_str_lossy(), b.to_str_lossy());
            let same = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
            found.push(one(format!("`{path}` (texts part at character {})", same + 1)));
        }
        (a, b) => found.push(one(format!("`{path}` ({} recorded, {} asked)", shown(a), shown(b)))),
    }
}

fn compare_objects(path: &str, recorded: &Object, asked: &Object, found: &mut Vec<Difference>) {
    let at = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    for (key, value) in recorded.iter() {
        let key = key.to_str_lossy();
        match asked.get(&key) {
            Some(other) => compare(&at(&key), value, other, found),
            None => found.push(Difference { told: format!("`{}` (only recorded)", at(&key)), weight: values(value) }),
        }
    }
    for (key, value) in asked.iter().filter(|(key, _)| !recorded.contains(&key.to_str_lossy())) {
        found.push(Difference { told: format!("`{}` (only asked)", at(&key.to_str_lossy())), weight: values(value) });
    }
}

fn one(told: String) -> Difference {
    Difference { told, weight: 1 }
}

/// How many values something holds.
fn values(json: &Json) -> usize {
    match json {
        Json::Array(items) => items.iter().map(values).sum::<usize>().max(1),
        Json::Object(object) => object.iter().map(|(_, value)| values(value)).sum::<usize>().max(1),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => 1,
    }
}

/// Settings are shown, content is not.
fn shown(json: &Json) -> String {
    match json {
        Json::Null | Json::Bool(_) | Json::Number(_) => json.to_text(),
        Json::String(_) | Json::Array(_) | Json::Object(_) => json.kind().to_owned(),
    }
}

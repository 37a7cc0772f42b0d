//! `turnkeep token`

use jiff::{SignedDuration, Timestamp};
use pollster::block_on;
use turnkeep_model::Json;
use turnkeep_server::auth::{NewToken, Token, Tokens};
use turnkeep_server::{Control, control_url, open_private};

use super::super::CommandResult;
use crate::exit::{CliError, Exit};
use crate::report::{object, text_or_null};
use crate::server_args::{self, ListTokens, RemoveToken, TokenCommand};
use crate::store::StoreArgs;
use crate::terminal::{print, print_json, print_note, table, table_text};
use crate::visible::visible_line;

pub(crate) fn token(args: &server_args::Token) -> CommandResult {
    match &args.command {
        TokenCommand::New(args) => new(args),
        TokenCommand::Ls(args) => ls(args),
        TokenCommand::Rm(args) => rm(args),
    }
}

fn tokens(store: &StoreArgs) -> Result<Tokens, CliError> {
    Ok(Tokens::new(Control::new(open_private(&control_url(&store.url()?)?)?)))
}

fn new(args: &server_args::NewToken) -> CommandResult {
    let lasts = args.expires.and_then(|time| SignedDuration::try_from(time).ok());
    let expires = lasts.and_then(|time| Timestamp::now().checked_add(time).ok());
    let wanted = NewToken { name: args.name.clone(), scope: args.scope, tenant: args.tenant.clone(), expires };
    let (token, text) = block_on(tokens(&args.store)?.create(wanted))?;
    if args.json {
        let Json::Object(mut told) = as_json(&token) else { return Ok(Exit::Ok) };
        told.set("token", text);
        print_json(&Json::Object(told))?;
    } else {
        print(&format!("{text}\n"))?;
        print_note("it is not shown again; `turnkeep token rm` removes it");
    }
    Ok(Exit::Ok)
}

fn ls(args: &ListTokens) -> CommandResult {
    let tokens = block_on(tokens(&args.store)?.list())?;
    if args.json {
        print_json(&object([("tokens", Json::Array(tokens.iter().map(as_json).collect()))]))?;
        return Ok(Exit::Ok);
    }
    let mut rows = table(&["ID", "NAME", "SCOPE", "TENANT", "EXPIRES"]);
    for token in &tokens {
        let expires = token.expires.map_or_else(|| "never".to_owned(), |end| end.to_string());
        rows.add_row([
            token.id.as_str(),
            &visible_line(&token.name),
            token.scope.as_str(),
            token.tenant.as_str(),
            &expires,
        ]);
    }
    print(&table_text(&rows))?;
    Ok(Exit::Ok)
}

fn rm(args: &RemoveToken) -> CommandResult {
    block_on(tokens(&args.store)?.remove(&args.id))?;
    if args.json {
        print_json(&object([("removed", args.id.as_str().into())]))?;
    } else {
        print(&format!("removed {}\n", visible_line(&args.id)))?;
    }
    Ok(Exit::Ok)
}

/// A token without its secret.
fn as_json(token: &Token) -> Json {
    let expires = token.expires.as_ref().map(ToString::to_string);
    object([
        ("id", token.id.as_str().into()),
        ("name", token.name.as_str().into()),
        ("scope", token.scope.as_str().into()),
        ("tenant", token.tenant.as_str().into()),
        ("created", token.created.to_string().into()),
        ("expires", text_or_null(expires.as_deref())),
    ])
}

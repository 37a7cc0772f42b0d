//! What a file says.

use turnkeep_model::{Effort, Options, Result, line_and_column};

use super::load::{Level, Source};
use super::open::HeaderSource;
use super::partial::{AwsSource, Partial};
use super::table::{Free, Table};
use crate::address::Streaming;
use crate::key::{COMMAND_TIME, KeySource};
use crate::model::Payload;
use crate::network::Proxy;
use crate::price::Prices;

/// The endpoints that a file speaks of.
pub(super) fn read(source: &Source) -> Result<Vec<Partial>> {
    let mut file = Table::of(source)?;
    let endpoints = file.table("endpoint")?.map(Table::tables).transpose()?.unwrap_or_default();
    // The server reads its own table of the same file.
    file.table("server")?;
    file.done()?;
    let mut read: Vec<Partial> = Vec::new();
    for (name, at, table) in endpoints {
        if let Some(same) = read.iter().find(|known| known.name.eq_ignore_ascii_case(&name)) {
            let what = format!("it is called as `{}` of line {} is", same.name, same.place.1);
            return Err(table.error(at, &what).hint("names do not differ by upper and lower case alone"));
        }
        if name.contains(':') || name.contains(',') || name.trim().is_empty() {
            return Err(table.error(at, "a name has no `:` and no `,`, and is not empty"));
        }
        read.push(endpoint(name, at, table)?);
    }
    Ok(read)
}

fn endpoint(name: String, at: usize, mut table: Table<'_>) -> Result<Partial> {
    let source = table.source();
    let line = line_and_column(&source.text, at).0;
    let mut partial =
        Partial { name, place: (source.path.clone(), line), level: Some(source.level), ..Partial::default() };
    partial.id = table.text("id")?;
    partial.provider = table.text("provider")?;
    partial.wire = table.text("wire")?;
    partial.dialect = table.text("dialect")?;
    partial.model = table.text("model")?;
    partial.family = table.text("family")?;
    partial.base_url = table.text("base_url")?;
    partial.api_version = table.text("api_version")?;
    partial.region = table.text("region")?;
    partial.account = table.text("account")?;
    partial.key = table.table("key")?.map(|key| key_source(key, at)).transpose()?;
    partial.aws = table.table("aws")?.map(|aws| aws_source(aws, at)).transpose()?;
    partial.options = table.table("options")?.map(options).transpose()?.unwrap_or_default();
    partial.system = table.text("system")?;
    partial.categories = table.texts("categories")?;
    partial.fallback = table.texts("fallback")?;
    partial.max_body = table.count("max_body")?;
    partial.ca_file = table.text("ca_file")?.map(|path| source.path_of(&path));
    partial.proxy = table.word("proxy", "`system`, `none`, or an address", proxy)?;
    partial.payload = table.switch("payload")?.map(|kept| if kept { Payload::Keep } else { Payload::Drop });
    partial.streaming = table.switch("stream")?.map(|on| if on { Streaming::On } else { Streaming::Off });
    if let Some(mut timeouts) = table.table("timeouts")? {
        partial.timeouts = [timeouts.seconds("connect")?, timeouts.seconds("first_byte")?, timeouts.seconds("idle")?];
        timeouts.done()?;
    }
    if let Some(mut retry) = table.table("retry")? {
        partial.tries = retry.count("tries")?;
        partial.waits = [retry.seconds("first")?, retry.seconds("longest")?, retry.seconds("patience")?];
        retry.done()?;
    }
    partial.prices = table.table("prices")?.map(prices).transpose()?.unwrap_or_default();
    if let Some(headers) = table.table("headers")? {
        partial.headers =
            headers.free()?.into_iter().map(|(name, value)| header(name, value, at)).collect::<Result<_>>()?;
    }
    table.done()?;
    Ok(partial)
}

fn proxy(word: &str) -> Option<Proxy> {
    match word {
        "system" => Some(Proxy::System),
        "none" => Some(Proxy::Direct),
        url if url.contains("://") => Some(Proxy::Url(url.to_owned())),
        _ => None,
    }
}

fn prices(mut table: Table<'_>) -> Result<Prices> {
    let prices = Prices {
        input: table.decimal("input")?,
        output: table.decimal("output")?,
        cached_read: table.decimal("cached_read")?,
        cached_write: table.decimal("cached_write")?,
    };
    table.done()?;
    Ok(prices)
}

fn options(mut table: Table<'_>) -> Result<Options> {
    let options = Options {
        temperature: table.number("temperature")?,
        top_p: table.number("top_p")?,
        top_k: table.number("top_k")?,
        max_tokens: table.number("max_tokens")?,
        presence_penalty: table.number("presence_penalty")?,
        frequency_penalty: table.number("frequency_penalty")?,
        reasoning: table.text("reasoning")?.map(|word| Effort::from_word(&word)),
        budget_tokens: table.number("budget_tokens")?,
        stop: table.texts("stop")?.unwrap_or_default(),
        seed: table.number("seed")?,
        parallel_tool_calls: table.switch("parallel_tool_calls")?,
        ..Options::default()
    };
    table.done()?;
    Ok(options)
}

fn header(name: String, value: Free<'_>, at: usize) -> Result<(String, HeaderSource)> {
    let value = match value {
        Free::Text(text) => HeaderSource::Plain(text),
        Free::Table(table) => HeaderSource::Secret(key_source(table, at)?),
    };
    Ok((name.to_ascii_lowercase(), value))
}

fn aws_source(mut table: Table<'_>, at: usize) -> Result<AwsSource> {
    let mut part = |key: &'static str| table.table(key)?.map(|key| key_source(key, at)).transpose();
    let (access_key, secret_key, session_token) = (part("access_key")?, part("secret_key")?, part("session_token")?);
    let (Some(access_key), Some(secret_key)) = (access_key, secret_key) else {
        return Err(table.error(at, "it needs an `access_key` and a `secret_key`"));
    };
    table.done()?;
    Ok(AwsSource { access_key, secret_key, session_token })
}

/// Where a key comes from: `{ env = … }`, `{ file = … }` or `{ command = […] }`. `at` is where the table stands.
///
/// # Errors
/// `Corrupt` where it names none or several, and where a project's file names a command.
pub fn key_source(mut table: Table<'_>, at: usize) -> Result<KeySource> {
    let source = table.source();
    let (env, file, command) = (table.text("env")?, table.text("file")?, table.texts("command")?);
    let within = table.seconds("timeout")?.unwrap_or(COMMAND_TIME);
    let key = match (env, file, command) {
        (Some(name), None, None) => KeySource::Env(name),
        (None, Some(path), None) => KeySource::File(source.path_of(&path)),
        (None, None, Some(_)) if source.level == Level::Project => {
            return Err(table.error(at, "a project's file may not run a command for a key").hint(
                "put the command into your own turnkeep.toml: whoever can change the project could run anything",
            ));
        }
        (None, None, Some(words)) => KeySource::Command { words, within },
        _ => return Err(table.error(at, "expected one of `env`, `file` and `command`")),
    };
    table.done()?;
    Ok(key)
}

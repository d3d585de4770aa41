//! Functions and filters of the templates.

use crate::language::{self, FluentArgs, FluentValue, current};
use crate::times::Time;
use serde::Deserialize;
use tera::{Kwargs, State, Tera, TeraResult, Value};

/// The template engine, without templates.
pub(super) fn engine() -> Tera {
    let mut tera = Tera::new();
    tera.register_function("lang", |_: Kwargs, _: &State<'_>| current().code());
    tera.register_function("t", |arguments: Kwargs, _: &State<'_>| {
        text(&arguments, |value| Ok(value.to_string()))
    });
    tera.register_function("t_html", html);
    tera.register_filter("time", |time: Value, _: Kwargs, state: &State<'_>| {
        let time = Time::deserialize(&time).map_err(tera::Error::message)?;
        let [ago, exact] = [state.escape(&time.ago())?, state.escape(&time.exact())?];
        TeraResult::Ok(Value::safe_string(&format!("<time title=\"{exact}\">{ago}</time>")))
    });
    tera.register_filter("count", |count: u64, _: Kwargs, _: &State<'_>| language::grouped(count));
    tera.register_filter("exact", |time: Value, _: Kwargs, _: &State<'_>| {
        TeraResult::Ok(Time::deserialize(&time).map_err(tera::Error::message)?.exact())
    });
    tera
}

/// The text `key` with the other arguments as its values.
fn text(arguments: &Kwargs, shown: impl Fn(&Value) -> TeraResult<String>) -> TeraResult<String> {
    let key: &str = arguments.must_get("key")?;
    if !current().has(key) {
        return Err(tera::Error::message(format!("no text {key}")));
    }
    let mut values = FluentArgs::new();
    for (name, value) in arguments.iter() {
        let value = match value.as_f64() {
            Some(number) => FluentValue::from(number),
            None => FluentValue::from(shown(value)?),
        };
        values.set(name.to_string(), value);
    }
    Ok(current().text(key, &values))
}

/// A text with elements: its own markup stays, and its values are escaped. `<a>` becomes a link to the argument `a`, and `<span>` gets the
/// class `span`.
fn html(arguments: Kwargs, state: &State<'_>) -> TeraResult<Value> {
    let mut html = text(&arguments, |value| state.escape_if_needed(value))?;
    for (element, attribute) in [("a", "href"), ("span", "class")] {
        if let Some(value) = arguments.get::<&str>(element)? {
            let value = state.escape(value)?;
            html = html.replace(&format!("<{element}>"), &format!("<{element} {attribute}=\"{value}\">"));
        }
    }
    Ok(Value::safe_string(&html))
}

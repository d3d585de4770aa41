//! Formats span fields for log lines; only fields whose names have no dot are included.

use serde_json::{Map, Value};
use std::fmt::{self, Debug};
use tracing::field::{Field, Visit};
use tracing_subscriber::field::{RecordFields, VisitOutput};
use tracing_subscriber::fmt::FormattedFields;
use tracing_subscriber::fmt::format::{DefaultVisitor, FormatFields, Writer};

/// Formats fields as `name=value`, separated by spaces.
pub(super) struct HumanFields;

impl<'writer> FormatFields<'writer> for HumanFields {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'writer>, fields: R) -> fmt::Result {
        let mut visitor = DefaultVisitor::new(writer, true);
        fields.record(&mut LogFieldFilter(&mut visitor));
        visitor.finish()
    }

    fn add_fields(
        &self,
        current: &'writer mut FormattedFields<Self>,
        fields: &tracing::span::Record<'_>,
    ) -> fmt::Result {
        let is_empty = current.fields.is_empty();
        let mut visitor = DefaultVisitor::new(current.as_writer(), is_empty);
        fields.record(&mut LogFieldFilter(&mut visitor));
        visitor.finish()
    }
}

/// Formats fields as a JSON object.
pub(super) struct JsonFields;

impl<'writer> FormatFields<'writer> for JsonFields {
    fn format_fields<R: RecordFields>(&self, mut writer: Writer<'writer>, fields: R) -> fmt::Result {
        let mut object = Object::default();
        fields.record(&mut LogFieldFilter(&mut object));
        write!(writer, "{}", Value::Object(object.0))
    }

    fn add_fields(
        &self,
        current: &'writer mut FormattedFields<Self>,
        fields: &tracing::span::Record<'_>,
    ) -> fmt::Result {
        let mut added = Object::default();
        fields.record(&mut LogFieldFilter(&mut added));
        if added.0.is_empty() {
            return Ok(());
        }
        let mut object: Map<String, Value> = serde_json::from_str(&current.fields).map_err(|_| fmt::Error)?;
        object.extend(added.0);
        current.fields = Value::Object(object).to_string();
        Ok(())
    }
}

/// Visitor that passes on only the fields whose names have no dot.
struct LogFieldFilter<'a, V>(&'a mut V);

impl<V: Visit> LogFieldFilter<'_, V> {
    fn filter(&mut self, field: &Field, record: impl FnOnce(&mut V)) {
        if !field.name().contains('.') {
            record(self.0);
        }
    }
}

impl<V: Visit> Visit for LogFieldFilter<'_, V> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.filter(field, |to| to.record_debug(field, value));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.filter(field, |to| to.record_str(field, value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.filter(field, |to| to.record_u64(field, value));
    }
}

#[derive(Default)]
struct Object(Map<String, Value>);

impl Visit for Object {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.record_str(field, &format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

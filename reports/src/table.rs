//! A table before it has a form: what every renderer of rows (page, Markdown, CSV, JSON) is given.
//!
//! Values keep their kind, so that one form can show `1.23 ms` and another write `1230000`.

use crate::units;

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Words, as they came: renderers make them harmless.
    Text(String),
    /// A number of things.
    Count(u64),
    /// A difference.
    Signed(i64),
    /// A time, in ns.
    Ns(f64),
    /// A number without a unit, such as calls per request.
    Number(f64),
    /// A share of a whole, 0 to 1.
    Share(f64),
    /// Not known, or too few values for it.
    Missing,
}

impl Cell {
    /// A time that may be missing, in ns.
    #[must_use]
    pub fn ns(value: Option<u64>) -> Self {
        value.map_or(Self::Missing, |ns| Self::Ns(ns as f64))
    }

    /// Any text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// For people: with its unit, rounded.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(count) => units::count(*count),
            Self::Signed(number) => units::signed(*number),
            Self::Ns(ns) if ns.is_finite() => units::duration_f64(*ns),
            Self::Number(number) if number.is_finite() => units::ratio(*number),
            Self::Share(share) if share.is_finite() => units::percent(*share),
            _ => "-".to_owned(),
        }
    }

    /// For programs: whole, in the unit of the column's key; empty when it is missing.
    #[must_use]
    pub fn exact(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(count) => count.to_string(),
            Self::Signed(number) => number.to_string(),
            Self::Ns(number) | Self::Number(number) | Self::Share(number) if number.is_finite() => number.to_string(),
            _ => String::new(),
        }
    }

    /// As a JSON value.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        match self {
            Self::Text(text) => text.as_str().into(),
            Self::Count(count) => (*count).into(),
            Self::Signed(number) => (*number).into(),
            // What is not finite becomes null.
            Self::Ns(number) | Self::Number(number) | Self::Share(number) => (*number).into(),
            Self::Missing => serde_json::Value::Null,
        }
    }

    /// Belongs to the left, as words do.
    #[must_use]
    pub fn is_text(&self) -> bool {
        matches!(self, Self::Text(_))
    }
}

/// Name of a column, for people and for programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// For people: `total`.
    pub heading: String,
    /// For programs, with the unit: `total_ns`.
    pub key: String,
}

/// Rows under named columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Part of a file's name, and key in JSON: letters, digits, `-`.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// Names, as many as each row has cells.
    pub columns: Vec<Column>,
    /// In order.
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// Without rows; columns are heading and unit, `""` where there is none.
    #[must_use]
    pub fn new(name: &str, title: &str, columns: &[(&str, &str)]) -> Self {
        let mut table = Self { name: name.to_owned(), title: title.to_owned(), columns: Vec::new(), rows: Vec::new() };
        for (heading, unit) in columns {
            table.column(heading, unit);
        }
        table
    }

    /// Adds a column at the end.
    pub fn column(&mut self, heading: &str, unit: &str) {
        let words: Vec<_> = heading.split_whitespace().chain((!unit.is_empty()).then_some(unit)).collect();
        self.columns.push(Column { heading: heading.to_owned(), key: words.join("_") });
    }

    /// Adds a row at the end.
    pub fn row(&mut self, cells: Vec<Cell>) {
        debug_assert_eq!(cells.len(), self.columns.len(), "bug: a row of `{}` with unlike columns", self.name);
        self.rows.push(cells);
    }
}

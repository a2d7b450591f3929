//! Values that go in and come out: text, whole numbers, bytes. Nothing else is stored, so both engines agree.

use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Column, Postgres, Row as _, Sqlite, TypeInfo, ValueRef};

use crate::error::StoreError;
use crate::ids::{Tenant, Timestamp};
use crate::object::ObjectId;

/// One value of a statement.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(Option<String>),
    Int(Option<i64>),
    Bytes(Option<Vec<u8>>),
}

macro_rules! value_from {
    ($($from:ty => |$it:ident| $make:expr;)*) => {
        $(impl From<$from> for Value {
            fn from($it: $from) -> Self {
                $make
            }
        })*
    };
}

value_from! {
    &str => |it| Self::Text(Some(it.to_owned()));
    String => |it| Self::Text(Some(it));
    Option<String> => |it| Self::Text(it);
    Option<&str> => |it| Self::Text(it.map(str::to_owned));
    i64 => |it| Self::Int(Some(it));
    Option<i64> => |it| Self::Int(it);
    bool => |it| Self::Int(Some(i64::from(it)));
    Vec<u8> => |it| Self::Bytes(Some(it));
    Option<Vec<u8>> => |it| Self::Bytes(it);
    Timestamp => |it| Self::Int(Some(it.0));
    ObjectId => |it| Self::Text(Some(it.to_string()));
    Option<ObjectId> => |it| Self::Text(it.map(|id| id.to_string()));
    &serde_json::Value => |it| Self::Text(Some(it.to_string()));
}

/// Gathers the values after the tenant: `args![name, 3_i64]` are `$2` and `$3`.
macro_rules! args {
    ($($value:expr),* $(,)?) => { vec![$(crate::sql::Value::from($value)),*] };
}
pub(crate) use args;

pub(super) fn bind_sqlite<'q>(
    query: Query<'q, Sqlite, SqliteArguments>,
    tenant: &Tenant,
    values: Vec<Value>,
) -> Query<'q, Sqlite, SqliteArguments> {
    values.into_iter().fold(query.bind(tenant.as_str().to_owned()), |query, value| match value {
        Value::Text(text) => query.bind(text),
        Value::Int(number) => query.bind(number),
        Value::Bytes(bytes) => query.bind(bytes),
    })
}

pub(super) fn bind_postgres<'q>(
    query: Query<'q, Postgres, PgArguments>,
    tenant: &Tenant,
    values: Vec<Value>,
) -> Query<'q, Postgres, PgArguments> {
    values.into_iter().fold(query.bind(tenant.as_str().to_owned()), |query, value| match value {
        Value::Text(text) => query.bind(text),
        Value::Int(number) => query.bind(number),
        Value::Bytes(bytes) => query.bind(bytes),
    })
}

/// One row, by position.
#[derive(Debug)]
pub(crate) struct Row(Vec<Value>);

pub(super) fn from_sqlite(row: &SqliteRow) -> Result<Row, StoreError> {
    let mut values = Vec::with_capacity(row.columns().len());
    for at in 0..row.columns().len() {
        let raw = row.try_get_raw(at)?;
        let info = raw.type_info();
        let name = info.name().to_owned();
        values.push(if raw.is_null() {
            Value::Text(None)
        } else {
            match name.as_str() {
                "INTEGER" => Value::Int(row.try_get_unchecked(at)?),
                "BLOB" => Value::Bytes(row.try_get_unchecked(at)?),
                _ => Value::Text(row.try_get_unchecked(at)?),
            }
        });
    }
    Ok(Row(values))
}

pub(super) fn from_postgres(row: &PgRow) -> Result<Row, StoreError> {
    let mut values = Vec::with_capacity(row.columns().len());
    for column in row.columns() {
        let at = column.ordinal();
        values.push(match column.type_info().name() {
            "INT8" => Value::Int(row.try_get(at)?),
            "BOOL" => Value::Int(row.try_get::<Option<bool>, _>(at)?.map(i64::from)),
            "INT4" => Value::Int(row.try_get::<Option<i32>, _>(at)?.map(i64::from)),
            "BYTEA" => Value::Bytes(row.try_get(at)?),
            _ => Value::Text(row.try_get(at)?),
        });
    }
    Ok(Row(values))
}

impl Row {
    fn wrong(at: usize) -> StoreError {
        StoreError::Corrupt { what: "a row".into(), finding: format!("column {at} does not hold what the schema says") }
    }

    /// Returns a text.
    pub(crate) fn text(&self, at: usize) -> Result<&str, StoreError> {
        self.text_or_none(at)?.ok_or_else(|| Self::wrong(at))
    }

    /// Returns a text that may be absent.
    pub(crate) fn text_or_none(&self, at: usize) -> Result<Option<&str>, StoreError> {
        match self.0.get(at) {
            Some(Value::Text(text)) => Ok(text.as_deref()),
            Some(Value::Int(None) | Value::Bytes(None)) => Ok(None),
            _ => Err(Self::wrong(at)),
        }
    }

    /// Returns a number.
    pub(crate) fn int(&self, at: usize) -> Result<i64, StoreError> {
        self.int_or_none(at)?.ok_or_else(|| Self::wrong(at))
    }

    /// Returns a number that may be absent.
    pub(crate) fn int_or_none(&self, at: usize) -> Result<Option<i64>, StoreError> {
        match self.0.get(at) {
            Some(Value::Int(number)) => Ok(*number),
            Some(Value::Text(None) | Value::Bytes(None)) => Ok(None),
            _ => Err(Self::wrong(at)),
        }
    }

    /// Returns a truth, which one engine has as a type and the other as a number.
    pub(crate) fn truth(&self, at: usize) -> Result<bool, StoreError> {
        self.int(at).map(|number| number != 0)
    }

    /// Returns bytes.
    pub(crate) fn bytes(&self, at: usize) -> Result<&[u8], StoreError> {
        match self.0.get(at) {
            Some(Value::Bytes(Some(bytes))) => Ok(bytes),
            _ => Err(Self::wrong(at)),
        }
    }

    /// Returns bytes that may be absent.
    pub(crate) fn bytes_or_none(&self, at: usize) -> Result<Option<&[u8]>, StoreError> {
        match self.0.get(at) {
            Some(Value::Bytes(bytes)) => Ok(bytes.as_deref()),
            Some(Value::Text(None) | Value::Int(None)) => Ok(None),
            _ => Err(Self::wrong(at)),
        }
    }

    /// Returns an object id.
    pub(crate) fn id(&self, at: usize) -> Result<ObjectId, StoreError> {
        self.text(at)?.parse()
    }

    /// Returns a moment.
    pub(crate) fn time(&self, at: usize) -> Result<Timestamp, StoreError> {
        self.int(at).map(Timestamp)
    }

    /// Returns a JSON value.
    pub(crate) fn json(&self, at: usize) -> Result<serde_json::Value, StoreError> {
        serde_json::from_str(self.text(at)?).map_err(|_| Self::wrong(at))
    }
}

//! Values as PostgreSQL sends and takes them.

use std::error::Error;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use jiff::Timestamp;
use jiff::civil::{Date, Time, date};
use jiff::{Span, ToSpan as _};
use serde_json::{Number, Value as Json};
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{Format, FromSql, IsNull, Kind, ToSql, Type};
use uuid::Uuid;

use super::columns::Wanted;

type Wrong = Box<dyn Error + Sync + Send>;

/// An argument: the server reads its text as the type that the statement has there.
#[derive(Debug)]
pub struct Arg<'a>(pub &'a Json);

impl ToSql for Arg<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Wrong> {
        if self.0.is_null() {
            return Ok(IsNull::Yes);
        }
        out.extend_from_slice(text(self.0, ty).as_bytes());
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn encode_format(&self, _: &Type) -> Format {
        Format::Text
    }

    fn to_sql_checked(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Wrong> {
        self.to_sql(ty, out)
    }
}

/// A value in the text that the type reads.
fn text(value: &Json, ty: &Type) -> String {
    match (value, ty.kind()) {
        _ if [Type::JSON, Type::JSONB].contains(ty) => value.to_string(),
        (Json::Array(items), Kind::Array(member)) => {
            let items = items.iter().map(|item| match item {
                Json::Null => "NULL".to_owned(),
                item => {
                    let text = text(item, member);
                    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
                }
            });
            format!("{{{}}}", items.collect::<Vec<_>>().join(","))
        }
        (Json::String(text), _) => text.clone(),
        _ => value.to_string(),
    }
}

/// What stands in a column, as it came.
pub struct Raw<'a>(&'a [u8]);

impl<'a> FromSql<'a> for Raw<'a> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Wrong> {
        Ok(Raw(raw))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// A value as JSON.
///
/// # Errors
/// In words that follow "the query gives": a type or a value that has no form here.
pub fn json(raw: Option<Raw<'_>>, ty: &Type, wanted: Wanted, column: &str) -> Result<Json, String> {
    let Some(Raw(raw)) = raw else {
        return Ok(Json::Null);
    };
    let formless = || {
        format!(
            "gives column `{column}` of the type `{ty}`, which has no form here: write `{column}::text`"
        )
    };
    if let Kind::Array(member) = ty.kind() {
        let items = Vec::<Option<Raw<'_>>>::from_sql(ty, raw).map_err(|_| formless())?;
        let items = items.into_iter();
        return items
            .map(|item| json(item, member, wanted, column))
            .collect();
    }
    let read = single(raw, ty, wanted).map_err(|_| {
        format!("gives a value of the type `{ty}` in column `{column}` that has no form here")
    })?;
    read.ok_or_else(formless)
}

/// A value that is no array; none of a type that has no form.
fn single(raw: &[u8], ty: &Type, wanted: Wanted) -> Result<Option<Json>, Wrong> {
    Ok(Some(match ty {
        &Type::BOOL => bool::from_sql(ty, raw)?.into(),
        &Type::INT2 => wanted.int(i16::from_sql(ty, raw)?.into()),
        &Type::INT4 => wanted.int(i32::from_sql(ty, raw)?.into()),
        &Type::INT8 => wanted.int(i64::from_sql(ty, raw)?),
        &Type::OID => wanted.int(u32::from_sql(ty, raw)?.into()),
        // Its shortest text, not the digits of the wider float.
        &Type::FLOAT4 => float(f32::from_sql(ty, raw)?.to_string().parse()?)?,
        &Type::FLOAT8 => float(f64::from_sql(ty, raw)?)?,
        &Type::NUMERIC => numeric(raw, wanted)?,
        &Type::JSON => serde_json::from_slice(raw)?,
        // Behind the number of its version.
        &Type::JSONB => serde_json::from_slice(raw.get(1..).unwrap_or_default())?,
        &Type::BYTEA => BASE64.encode(raw).into(),
        &Type::UUID => Uuid::from_slice(raw)?.to_string().into(),
        &Type::TIMESTAMPTZ | &Type::TIMESTAMP => moment(i64::from_sql(ty, raw)?)?,
        &Type::DATE => day(i32::from_sql(ty, raw)?)?,
        &Type::TIME => clock(i64::from_sql(ty, raw)?)?,
        _ if is_text(ty) => wanted.text(std::str::from_utf8(raw)?),
        _ => return Ok(None),
    }))
}

fn is_text(ty: &Type) -> bool {
    let texts = [
        Type::TEXT,
        Type::VARCHAR,
        Type::BPCHAR,
        Type::NAME,
        Type::CHAR,
        Type::XML,
        Type::UNKNOWN,
    ];
    texts.contains(ty) || ty.name() == "citext" || matches!(ty.kind(), Kind::Enum(_))
}

fn float(number: f64) -> Result<Json, Wrong> {
    let number = Number::from_f64(number);
    number.map(Json::Number).ok_or_else(|| "infinite".into())
}

/// Microseconds since 2000.
fn moment(micros: i64) -> Result<Json, Wrong> {
    const SINCE_1970: i64 = 946_684_800_000_000;
    let micros = micros.checked_add(SINCE_1970).ok_or("infinite")?;
    Ok(Timestamp::from_microsecond(micros)?.to_string().into())
}

/// Days since 2000.
fn day(days: i32) -> Result<Json, Wrong> {
    let day: Date = date(2000, 1, 1).checked_add(Span::new().try_days(days)?)?;
    Ok(day.to_string().into())
}

/// Microseconds since midnight.
fn clock(micros: i64) -> Result<Json, Wrong> {
    let time: Time = Time::midnight().checked_add(micros.microseconds())?;
    Ok(time.to_string().into())
}

/// A number of any length, in digits of 10,000: how many, the power of the first, the sign, digits behind the point.
fn numeric(raw: &[u8], wanted: Wanted) -> Result<Json, Wrong> {
    let part = |at: usize| -> Result<i16, Wrong> {
        let bytes = raw.get(2 * at..2 * at + 2).ok_or("cut off")?;
        Ok(i16::from_be_bytes(bytes.try_into()?))
    };
    let (count, weight, sign, scale) = (part(0)?, part(1)?, part(2)?, part(3)?);
    let sign = match sign as u16 {
        0 => "",
        0x4000 => "-",
        _ => return Err("not a number".into()),
    };
    let digit = |power: i16| -> Result<i16, Wrong> {
        match weight - power {
            at if (0..count).contains(&at) => part(4 + usize::try_from(at)?),
            _ => Ok(0),
        }
    };
    let mut whole = String::new();
    for power in (0..=weight.max(0)).rev() {
        whole += &format!("{:04}", digit(power)?);
    }
    let mut behind = String::new();
    let scale = usize::try_from(scale)?;
    let mut power = -1;
    while behind.len() < scale {
        behind += &format!("{:04}", digit(power)?);
        power -= 1;
    }
    behind.truncate(scale);
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let text = match behind.is_empty() {
        true => format!("{sign}{whole}"),
        false => format!("{sign}{whole}.{behind}"),
    };
    if wanted == Wanted::Text {
        return Ok(text.into());
    }
    match text.parse::<i64>() {
        Ok(number) => Ok(number.into()),
        Err(_) => float(text.parse()?),
    }
}

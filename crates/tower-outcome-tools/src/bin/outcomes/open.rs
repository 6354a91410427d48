//! Opens the ledger that a URL names.

use std::path::Path;
use std::sync::Arc;

use tower_outcome_core::Ledger;
use tower_outcome_sqlite::SqliteLedger;

use crate::arguments::Place;
use crate::failure::Failure;

/// Opens a ledger that is there. No error shows the URL, which may hold a password.
pub(crate) async fn open(place: &Place) -> Result<Arc<dyn Ledger>, Failure> {
    let url = place.url.as_str();
    let scheme = url.split_once(':').map(|(scheme, _)| scheme);
    if place.schema.is_some() && !matches!(scheme, Some("postgres" | "postgresql")) {
        return Err(Failure::usage("--schema is for postgres:// alone"));
    }
    if place.prefix.is_some() && !matches!(scheme, Some("redis" | "rediss")) {
        return Err(Failure::usage("--prefix is for redis:// alone"));
    }
    match scheme {
        Some("sqlite") => sqlite(url.trim_start_matches("sqlite:")),
        Some("postgres" | "postgresql") => {
            let mut settings = tower_outcome_postgres::Settings::new(url)?.that_exists();
            if let Some(schema) = &place.schema {
                settings = settings.with_schema(schema);
            }
            Ok(Arc::new(settings.connect().await?))
        }
        Some("redis" | "rediss") => {
            let mut settings = tower_outcome_redis::Settings::new(url)?;
            if let Some(prefix) = &place.prefix {
                settings = settings.with_prefix(prefix);
            }
            Ok(Arc::new(settings.connect().await?))
        }
        _ => Err(Failure::usage(
            "the ledger's URL begins with none of sqlite:, postgres:// and redis://",
        )),
    }
}

fn sqlite(path: &str) -> Result<Arc<dyn Ledger>, Failure> {
    let path = Path::new(path.strip_prefix("//").unwrap_or(path));
    // Opening would make a new ledger.
    if !path.is_file() {
        let path = path.display();
        return Err(Failure::usage(format!("there is no file {path}")));
    }
    Ok(Arc::new(SqliteLedger::open(path)?))
}

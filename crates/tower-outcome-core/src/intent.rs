//! stub
use serde_json::Value;
use crate::{Error, IdempotencyKey};
/// stub
#[derive(Clone, Debug)]
pub struct Intent { key: IdempotencyKey }
impl Intent {
    /// stub
    pub fn new(scope: &str, tool: &str, arguments: &Value) -> Result<Self, Error> {
        let _ = arguments;
        Ok(Self { key: IdempotencyKey::from_bytes(crate::key::digest(&[scope.as_bytes(), tool.as_bytes()])) })
    }
    /// stub
    pub fn key(&self) -> &IdempotencyKey { &self.key }
}

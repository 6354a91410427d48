//! An MCP server over stdio whose tools refund and book.
//!
//! `mcp_server BILLING_URL LEDGER_FILE [SECONDS]`, started by an MCP host. The host may cancel, time out or
//! vanish at any moment and make its call again under a new request id, to this process or to the
//! next one on the same ledger: nothing is done twice, and it is told what became of it. When the host
//! is gone, what it left behind gets SECONDS to end, 5 unless said otherwise.

use std::process::ExitCode;
use std::time::Duration;

use rmcp::ServiceExt as _;
use rmcp::transport::stdio;
use tower_outcome_core::BoxError;
use tower_outcome_mcp::{ServedTool, rmcp::ExecutorServer};
use tower_outcome_sqlite::SqliteLedger;

#[tokio::main]
async fn main() -> Result<ExitCode, BoxError> {
    let mut arguments = std::env::args().skip(1);
    let (Some(url), Some(ledger)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: mcp_server BILLING_URL LEDGER_FILE [SECONDS]");
        return Ok(ExitCode::from(2));
    };
    let seconds = arguments.next().map_or(Ok(5), |text| text.parse())?;
    let executor = tower_outcome_agents::executor(SqliteLedger::open(ledger)?);
    // Over stdio one host speaks for one account.
    let mut server = ExecutorServer::new(executor, |_| Ok("acme/desk-3".into()))
        .with_name("refunds-and-bookings", env!("CARGO_PKG_VERSION"))
        .with_tool(ServedTool::outcome_status());
    for tool in tower_outcome_agents::tools(&url)? {
        server = server.with_tool(tool);
    }
    let executor = server.executor().clone();
    server.serve(stdio()).await?.waiting().await?;
    executor.drain(Duration::from_secs(seconds)).await;
    Ok(ExitCode::SUCCESS)
}

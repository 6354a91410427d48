//! Real MCP clients and servers, over pipes, sockets and in memory, in front of one billing service.

mod by_hand;
mod http;
mod listing;
mod rounds;
mod session;
mod stdio;
mod support;
mod tower_mcp;

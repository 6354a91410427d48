//! What the connection needs for itself.

use crate::{End, ErrorCode};

use super::frame::{
    ACK, Fault, Frame, LOW_31, MALFORMED, PING, SETTINGS, WINDOW_UPDATE, WRONG_SIZE, frame,
};
use super::{DEFAULT_WINDOW, Session};

impl Session<'_> {
    /// Sends the settings and reads the preface.
    pub(super) async fn greet(&mut self) -> Result<(), Fault> {
        let window = (INITIAL_WINDOW_SIZE, LOW_31);
        let streams = self.connection.books.streams_allowed();
        let streams = streams.map(|most| (MAX_CONCURRENT_STREAMS, most));
        let settings = [window].into_iter().chain(streams);
        let payload: Vec<_> = settings
            .flat_map(|(name, value)| [&name.to_be_bytes()[..], &value.to_be_bytes()].concat())
            .collect();
        let mut bytes = frame(SETTINGS, 0, 0, &payload);
        let more = LOW_31 - u32::try_from(DEFAULT_WINDOW).expect("it is a positive number");
        bytes.extend(frame(WINDOW_UPDATE, 0, 0, &more.to_be_bytes()));
        self.send_control(&bytes).await;

        let mut preface = Vec::new();
        while let left @ 1.. = PREFACE.len() - preface.len() {
            self.connection.line.read(left, &mut preface).await?;
            if !PREFACE.starts_with(&preface) {
                return Err(MALFORMED);
            }
        }
        Ok(())
    }

    pub(super) async fn ping(&mut self, ping: &Frame) -> Result<Option<End>, Fault> {
        if ping.payload.len() != 8 {
            return Err(WRONG_SIZE);
        }
        if !ping.header.has(ACK) {
            let answer = frame(PING, ACK, 0, &ping.payload);
            self.send_control(&answer).await;
        }
        Ok(None)
    }

    pub(super) async fn settings(&mut self, settings: &Frame) -> Result<Option<End>, Fault> {
        if settings.header.has(ACK) {
            return Ok(None);
        }
        let (settings, rest) = settings.payload.as_chunks::<6>();
        if !rest.is_empty() {
            return Err(WRONG_SIZE);
        }
        for [n0, n1, value @ ..] in settings {
            if u16::from_be_bytes([*n0, *n1]) == INITIAL_WINDOW_SIZE {
                self.set_initial_window(u32::from_be_bytes(*value))?;
            }
        }
        self.has_settings = true;
        let ack = frame(SETTINGS, ACK, 0, &[]);
        self.send_control(&ack).await;
        self.flush().await
    }

    pub(super) async fn window_update(&mut self, update: &Frame) -> Result<Option<End>, Fault> {
        let more = i64::from(update.number()? & LOW_31);
        let window = match update.header.stream {
            _ if more == 0 => return Err(MALFORMED),
            0 => Some(&mut self.window),
            id if id > self.newest => return Err(MALFORMED),
            id => self.streams.get_mut(&id).map(|stream| &mut stream.window),
        };
        if let Some(window) = window {
            *window += more;
        }
        self.flush().await
    }

    /// Sends what no request asked for. If the client has left, the reader tells that after all
    /// that was sent before.
    pub(super) async fn send_control(&mut self, bytes: &[u8]) {
        let _ = self.connection.line.send(bytes).await;
    }

    /// Changes the windows of open streams too (RFC 9113 section 6.9.2).
    fn set_initial_window(&mut self, size: u32) -> Result<(), Fault> {
        if size > LOW_31 {
            return Err(Fault::Protocol(ErrorCode::FLOW_CONTROL_ERROR));
        }
        let change = i64::from(size) - self.initial_window;
        self.initial_window += change;
        for stream in self.streams.values_mut() {
            stream.window += change;
        }
        Ok(())
    }
}

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const MAX_CONCURRENT_STREAMS: u16 = 0x3;
const INITIAL_WINDOW_SIZE: u16 = 0x4;

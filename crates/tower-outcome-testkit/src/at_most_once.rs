//! A test of "at most once" for any client stack.

use std::io;

use crate::{Report, Scenario, Told};

/// Makes one write in every [scenario](Scenario::all), and panics unless it took effect at most
/// once in each, and nowhere after the client was told `Failed`.
///
/// `write` gets the URL of a fresh server, `http://127.0.0.1:PORT`, makes one request there that is
/// not GET, HEAD, OPTIONS or TRACE, at any path and with any body, and tells what it believes then.
/// Use the client as it is in production, with its retries, redirects and pool: those are tested.
/// The server ignores keys, so that everything that is sent twice takes effect twice.
///
/// Some scenarios are silent until the client gives up. **Give it a timeout**, a short one if the
/// test is to be short; nine of the scenarios last as long as it is. What has told nothing after 30
/// seconds fails the test. After each write the server waits for what is still under way: it ends
/// the connections, carries out what arrives on them until the client has closed them, and counts
/// that too, for 30 seconds at most. A repeat that the client makes later, over a new connection
/// and after `write` has ended, is not seen.
///
/// [`Scenario::FAULTLESS`] must be told `Done`; a client that cannot write proves nothing. Any other
/// may be told `Unknown`. Do not pause tokio's clock, or timeouts end before their time.
///
/// Where a client takes every lost answer for a failure, this panics with a table that says so:
///
/// ```text
/// the server                                    commits  requests  told
/// answers                                             1         1  done
/// refuses to connect                                  0         0  failed
/// commits, then closes                                1         1  failed   TOLD FAILED, TOOK EFFECT
/// ```
///
/// # Panics
///
/// The report is not [sound](Report::is_sound), or the operating system gives no port.
///
/// ```
/// use std::time::Duration;
///
/// use tower_outcome_testkit::{Told, assert_at_most_once};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> reqwest::Result<()> {
/// let client = reqwest::Client::builder()
///     .redirect(reqwest::redirect::Policy::none())
///     .timeout(Duration::from_millis(100))
///     .build()?;
///
/// assert_at_most_once(async |url| {
///     match client.post(url).body(r#"{"order":"A-1"}"#).send().await {
///         Ok(answer) if answer.status().is_success() => Told::Done,
///         Ok(answer) if answer.status().is_client_error() => Told::Failed,
///         Err(error) if error.is_connect() => Told::Failed,
///         _ => Told::Unknown,
///     }
/// })
/// .await;
/// # Ok(())
/// # }
/// ```
pub async fn assert_at_most_once<W>(write: W)
where
    W: AsyncFn(String) -> Told,
{
    match at_most_once(write).await {
        Ok(report) => assert!(report.is_sound(), "not at most once\n{report}"),
        Err(error) => panic!("no port for a server: {error}"),
    }
}

/// Does as [`assert_at_most_once`] and returns what it saw.
///
/// # Errors
///
/// The operating system gives no port.
pub async fn at_most_once<W>(write: W) -> io::Result<Report>
where
    W: AsyncFn(String) -> Told,
{
    let mut observations = Vec::new();
    for scenario in Scenario::all() {
        observations.push(scenario.run(&write).await?);
    }
    Ok(observations.into_iter().collect())
}

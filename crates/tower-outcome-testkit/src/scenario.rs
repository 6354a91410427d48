//! One fault, and how to expose a client to it.

mod list;

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::time::timeout;

use crate::books::Books;
use crate::door::Door;
use crate::{Billing, End, Observation, Refusing, Step, Told, What};

/// A fresh server that fails in one way, ignoring keys.
///
/// ```
/// use tower_outcome_testkit::{Scenario, Step};
///
/// let names: Vec<_> = Scenario::all().iter().map(Scenario::name).collect();
/// assert!(names.contains(&"commits, then closes"));
///
/// let own = Scenario::new("commits twice as slowly", [Step::CommitThenSilence]);
/// assert_eq!(own.script().len(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct Scenario {
    name: &'static str,
    server: Server,
    warms_up: bool,
    script: Vec<Step>,
}

/// How the server of a scenario meets connections.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Server {
    /// It lets the kernel take connections and requests in, and reads and commits them only when
    /// the write has ended.
    AcceptsLate,
    /// It accepts them.
    Listens,
    /// It refuses them.
    Refuses,
}

impl Scenario {
    /// A server with this script, which it follows as [`Billing`] does.
    #[must_use]
    pub fn new(name: &'static str, script: impl IntoIterator<Item = Step>) -> Self {
        Self {
            name,
            server: Server::Listens,
            warms_up: false,
            script: script.into_iter().collect(),
        }
    }

    /// Has another write made before the one that counts, so that this finds a connection that
    /// looks idle. The other write takes the first step of the script, and is not in the counts.
    /// Where that step ends the connection, the client gets five seconds to let go of it.
    #[must_use]
    pub fn after_another_write(mut self) -> Self {
        self.warms_up = true;
        self
    }

    /// The list that [`assert_at_most_once`](crate::assert_at_most_once) goes through.
    ///
    /// Its first member, [`FAULTLESS`](Self::FAULTLESS), has no fault: it tells whether the client
    /// can write at all.
    #[must_use]
    pub fn all() -> Vec<Self> {
        list::all()
    }

    /// The name of the scenario without a fault.
    pub const FAULTLESS: &str = "answers";

    /// What the server does, in a few words.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// How the server meets connections.
    #[must_use]
    pub const fn server(&self) -> Server {
        self.server
    }

    /// What the server does with the writes, one after the other; further ones are answered 201.
    #[must_use]
    pub fn script(&self) -> &[Step] {
        &self.script
    }

    /// Whether another write goes [before](Self::after_another_write) the one that counts.
    #[must_use]
    pub const fn follows_another_write(&self) -> bool {
        self.warms_up
    }

    /// Makes the write once and waits until everything that was under way is over.
    ///
    /// The write gets 30 seconds. Afterwards the server refuses connections and sends FIN on those
    /// that are open, still carrying out what arrives on them, and gives them 30 seconds to end.
    ///
    /// # Errors
    ///
    /// The operating system gives no port.
    pub async fn run<W>(&self, write: &W) -> io::Result<Observation>
    where
        W: AsyncFn(String) -> Told,
    {
        let books = Arc::new(Books::new(false));
        books.script(self.script.iter().cloned());
        if self.server == Server::Refuses {
            let refusing = Refusing::at(
                (Ipv4Addr::LOCALHOST, 0).into(),
                Arc::clone(&books),
                Door::Plain,
            )?;
            let told = timeout(LIMIT, write(refusing.url())).await.ok();
            return Ok(self.observe(told, &books, &Counts::default()));
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let (told, before, billing) = if self.server == Server::AcceptsLate {
            let url = format!("http://{}", listener.local_addr()?);
            let told = timeout(LIMIT, write(url)).await.ok();
            let billing = Billing::serve(listener, Arc::clone(&books), Door::Plain)?;
            (told, Counts::default(), billing)
        } else {
            let billing = Billing::serve(listener, Arc::clone(&books), Door::Plain)?;
            if self.warms_up {
                // What it is told does not matter: it is there for the connection that it leaves.
                let _ = timeout(LIMIT, write(billing.url())).await;
                self.idle(&billing).await;
            }
            let before = Counts::of(&books);
            let told = timeout(LIMIT, write(billing.url())).await.ok();
            (told, before, billing)
        };
        // A client that keeps a connection open in spite of FIN is counted as it stands.
        let _ = timeout(LIMIT, billing.drain()).await;
        Ok(self.observe(told, &books, &before))
    }

    /// Waits until the connection that the first write left has met what its step has in store for
    /// it, and the client has let go of it, as far as that shows here. The write that counts would
    /// race that.
    async fn idle(&self, billing: &Billing) {
        let end = self.script.first().and_then(|step| step.clone().idle_end());
        let over = async |met: fn(&What) -> bool| {
            let met = billing.wait_for(|event| met(&event.what));
            // A client may keep what has ended.
            let _ = timeout(NOTICE, met).await;
        };
        match end {
            Some(End::Close) => {
                over(|it| matches!(it, What::ClientClosed | What::ClientReset)).await;
            }
            Some(End::Reset) => over(|it| *it == What::Reset).await,
            Some(End::Hold) | None => {}
        }
    }

    fn with_server(mut self, server: Server) -> Self {
        self.server = server;
        self
    }

    fn observe(&self, told: Option<Told>, books: &Books, before: &Counts) -> Observation {
        let now = Counts::of(books);
        Observation::new(
            self.name,
            told,
            now.commits - before.commits,
            now.requests - before.requests,
        )
    }
}

#[derive(Default)]
struct Counts {
    commits: usize,
    requests: usize,
}

impl Counts {
    fn of(books: &Books) -> Self {
        Self {
            commits: books.commits(|_| true),
            requests: books.received().len(),
        }
    }
}

/// The time that a write has, and after it the connections.
const LIMIT: Duration = Duration::from_secs(30);

/// The time in which a client may notice that its idle connection has ended.
const NOTICE: Duration = Duration::from_secs(5);

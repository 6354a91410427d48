//! Reports of how far a call has come change nothing about it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc};
use tower_outcome::{BoxError, Code, Context, MemoryLedger, Outcome};
use tower_outcome_tools::{Executor, Progress, Tool};

use crate::support::{call, is};

fn executor(tool: Tool) -> Executor {
    Executor::new(MemoryLedger::default()).with_tool(tool)
}

async fn in_two_steps(_: Value) -> Result<Value, BoxError> {
    Progress::of(1.0, 2.0).with_message("one").report();
    let context = Context::current().ok_or("no context")?;
    tokio::spawn(context.scope(async { Progress::of(2.0, 2.0).report() })).await?;
    Ok(json!("printed"))
}

#[tokio::test]
async fn a_host_gets_what_the_handler_and_its_tasks_report() {
    for tool in [
        Tool::opaque_write("print", in_two_steps),
        Tool::read("print", in_two_steps),
    ] {
        let (tell, mut told) = mpsc::unbounded_channel();
        let call = call("print").with_progress(move |progress| drop(tell.send(progress)));
        is(&executor(tool).run(call).await, Outcome::Ok, Code::Done);
        let one = told.recv().await.unwrap();
        assert_eq!(
            (one.done(), one.total(), one.message()),
            (1.0, Some(2.0), "one")
        );
        assert_eq!(told.recv().await, Some(Progress::of(2.0, 2.0)));
        assert!(told.recv().await.is_none(), "nothing keeps the host's end");
    }
}

#[tokio::test]
async fn nobody_has_to_listen() {
    Progress::new(1.0).report();
    let envelope = executor(Tool::opaque_write("print", in_two_steps))
        .run(call("print"))
        .await;
    is(&envelope, Outcome::Ok, Code::Done);
}

#[tokio::test]
async fn a_host_that_panics_over_a_report_does_not_hurt_the_call() {
    let call = call("print").with_progress(|_| panic!("a bug of the host"));
    let envelope = executor(Tool::opaque_write("print", in_two_steps))
        .run(call)
        .await;
    is(&envelope, Outcome::Ok, Code::Done);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_reported_once_the_call_has_ended() {
    let (go, over) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (held, end) = (Arc::clone(&go), Arc::clone(&over));
    let tool = Tool::opaque_write("print", move |_| {
        let (held, end) = (Arc::clone(&held), Arc::clone(&end));
        async move {
            held.notified().await;
            Progress::new(1.0).report();
            end.notify_one();
            Ok(json!("printed"))
        }
    });
    let (tell, mut told) = mpsc::unbounded_channel();
    let call = call("print").with_progress(move |progress| drop(tell.send(progress)));
    let executor = executor(tool.with_deadline(Duration::from_secs(1)));
    let envelope = executor.run(call).await;
    is(&envelope, Outcome::Unknown, Code::TimeoutAfterSend);
    go.notify_one();
    over.notified().await;
    assert!(told.recv().await.is_none());
}

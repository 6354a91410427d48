//! Prints every cell.
use tower_outcome_matrix::{Protocol, Tally, ours, rows, run};
fn main() {
    for multi in [false, true] {
        let mut b = if multi {
            tokio::runtime::Builder::new_multi_thread()
        } else {
            tokio::runtime::Builder::new_current_thread()
        };
        let rt = b.enable_all().build().unwrap();
        rt.block_on(async {
            for client in ours() {
                if std::env::args().nth(1).as_deref() == Some("h1")
                    && client.protocol != Protocol::Http1
                {
                    continue;
                }
                let mut t = Tally::default();
                for row in rows() {
                    if !row.protocols.contains(&client.protocol) {
                        continue;
                    }
                    let cell = run(&row, &client).await.unwrap();
                    let flag = if cell.is_false_failed() {
                        "FALSE FAILED"
                    } else if cell.is_double_commit() {
                        "DOUBLE"
                    } else if cell.is_false_done() {
                        "FALSE DONE"
                    } else if cell.is_needless_unknown() {
                        "needless"
                    } else {
                        ""
                    };
                    if flag != "" || std::env::args().nth(2).is_some() {
                        println!(
                            "{multi} {:24} {:45} {:?} c{} r{} {flag}",
                            client.name,
                            row.name,
                            cell.seen.told,
                            cell.seen.commits,
                            cell.seen.requests
                        );
                    }
                    t = t + cell.into();
                }
                println!("{multi} {} {t:?}", client.name);
            }
        });
    }
}

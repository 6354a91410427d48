//! What is compared.

use tower_outcome_matrix::{Client, ours};

use crate::peers::peers;

/// One way to make writes, over the clients that it is used with.
#[derive(Clone, Debug)]
pub(crate) struct Stack {
    pub(crate) name: String,
    pub(crate) is_ours: bool,
    pub(crate) clients: Vec<Client>,
}

/// Ours, one for each HTTP library, then what people use.
pub(crate) fn all() -> Vec<Stack> {
    let mut stacks = Vec::<Stack>::new();
    for client in ours() {
        let library = client.name.split(',').next().unwrap_or_default();
        let name = format!("tower-outcome over {library}");
        match stacks.iter_mut().find(|stack| stack.name == name) {
            Some(stack) => stack.clients.push(client),
            None => stacks.push(Stack {
                name,
                is_ours: true,
                clients: vec![client],
            }),
        }
    }
    stacks.extend(peers());
    stacks
}

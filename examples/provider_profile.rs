//! Explains what an answer of a provider proves, by a profile of your own or a built-in one.
//!
//! ```text
//! cargo run --example provider_profile -- stripe_v1 POST /v1/refunds 409 --keyed
//! cargo run --example provider_profile -- acme.toml POST /orders 400 --body '{"error":"dup"}'
//! ```

use std::process::ExitCode;

use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use tower_outcome::Profile;
use tower_outcome::classify::{self, Answer, History, KeyOrigin, Sent};

fn main() -> ExitCode {
    match Question::of(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(question) => question.explain(),
        Err(error) => {
            eprintln!("provider_profile: {error}\n\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// What was sent, what came back, and what went before.
struct Question {
    profile: Profile,
    method: Method,
    path: String,
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
    keyed: bool,
    history: History,
}

impl Question {
    fn of(arguments: &[String]) -> Result<Self, String> {
        let [profile, verb, path, status, options @ ..] = arguments else {
            return Err("PROFILE, METHOD, PATH and STATUS are needed".to_owned());
        };
        let (method, number) = (verb.parse(), status.parse());
        let mut question = Self {
            profile: load(profile)?,
            method: method.map_err(|_| format!("{verb:?} is no method"))?,
            path: path.clone(),
            status: number.map_err(|_| format!("{status:?} is no status"))?,
            headers: HeaderMap::new(),
            body: Vec::new(),
            keyed: false,
            history: History::Clean,
        };
        let mut options = options.iter();
        while let Some(option) = options.next() {
            if option == "--keyed" {
                question.keyed = true;
                continue;
            }
            let value = options.next().ok_or(format!("{option} needs a value"))?;
            question.set(option, value)?;
        }
        Ok(question)
    }

    fn set(&mut self, option: &str, value: &str) -> Result<(), String> {
        match option {
            "--body" => self.body = value.into(),
            "--body-file" => {
                let body = std::fs::read(value);
                self.body = body.map_err(|error| format!("{value} cannot be read: {error}"))?;
            }
            "--header" => {
                let wrong = || format!("{value:?} is no header: write 'name: value'");
                let (name, text) = value.split_once(':').ok_or_else(wrong)?;
                let name = HeaderName::try_from(name.trim()).map_err(|_| wrong())?;
                let text = HeaderValue::try_from(text.trim()).map_err(|_| wrong())?;
                self.headers.append(name, text);
            }
            "--history" => {
                self.history = match value {
                    "clean" => History::Clean,
                    "earlier-call" => History::LeftInEarlierCall,
                    "this-call" => History::LeftInThisCall,
                    _ => return Err(format!("{value:?} is no history")),
                }
            }
            _ => return Err(format!("there is no option {option}")),
        }
        Ok(())
    }

    fn explain(&self) -> ExitCode {
        let sent = Sent::new(&self.method, &self.path);
        let keyed = sent.with_key(KeyOrigin::Explicit);
        let sent = if self.keyed { keyed } else { sent };
        let answer = Answer::new(self.status, &self.headers).with_body(&self.body);
        let reading = classify::answer(&self.profile, &sent, &answer, self.history);
        let (code, again) = (reading.code, reading.retryable_with_same_key);
        println!("{} ({code}): {}", code.outcome().as_str(), code.message());
        let name = self.profile.name();
        match (reading.rule, reading.meaning) {
            (Some(rule), Some(means)) => println!("by rule {rule} of {name}: {means}"),
            (_, Some(means)) => println!("by the general rules: {means}"),
            _ => println!("a read, which changes nothing"),
        }
        println!("send again under the same key: {again}");
        ExitCode::SUCCESS
    }
}

fn load(profile: &str) -> Result<Profile, String> {
    match Profile::named(profile) {
        Some(profile) => Ok(profile),
        None => Profile::from_file(profile).map_err(|error| format!("{profile}: {error}")),
    }
}

const USAGE: &str = "usage: provider_profile PROFILE METHOD PATH STATUS
    [--header 'NAME: VALUE'] [--body TEXT | --body-file FILE] [--keyed]
    [--history clean|earlier-call|this-call]";

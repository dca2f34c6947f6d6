//! A GitHub for the real `gh`, on a unix socket: it answers GraphQL queries for pull requests by head, and fails as it
//! is told to.
//!
//! `gh` reaches it by `http_unix_socket` in its settings, in plain HTTP and under the name github.com. It knows nothing
//! of the product's aliases: it reads them from the query, as GitHub does.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use camino::Utf8Path;
use serde_json::{Map, Value, json};

/// What a pull request is, before a test changes it.
#[must_use]
pub fn pull_request(number: u64, state: &str, head: &str) -> Value {
    json!({
        "number": number,
        "state": state,
        "isDraft": false,
        "baseRefName": "main",
        "headRefOid": head,
        "headRepositoryOwner": { "login": "o" },
        "url": format!("https://github.com/o/r/pull/{number}"),
        "createdAt": "2026-01-02T00:00:00Z",
        "updatedAt": "2026-01-03T00:00:00Z",
        "mergedAt": if state == "MERGED" { json!("2026-01-04T00:00:00Z") } else { Value::Null },
        "mergeCommit": null,
        "commits": { "nodes": [{ "commit": { "messageHeadline": "work", "statusCheckRollup": null } }] },
    })
}

/// What happens to one request.
#[derive(Debug, Clone)]
pub enum Failure {
    /// This status, these headers and this body instead of an answer.
    Status(u16, Vec<(&'static str, String)>, Value),
    /// These errors beside the answer; a head that one names is null.
    Errors(Value),
    /// The connection is closed in the middle of the answer.
    Cut,
    /// The answer is not JSON.
    Garbage,
}

#[derive(Debug, Default)]
struct State {
    /// The pull requests by head branch, the newest first.
    pull_requests: BTreeMap<String, Vec<Value>>,
    failures: VecDeque<Failure>,
    questions: Vec<Value>,
}

/// The server. Its thread ends with the process.
#[derive(Debug, Clone)]
pub struct GitHub {
    state: Arc<Mutex<State>>,
}

impl GitHub {
    /// Listens on a socket of that path.
    ///
    /// # Panics
    /// When the socket cannot be made.
    #[must_use]
    pub fn start(socket: &Utf8Path) -> Self {
        let listener = UnixListener::bind(socket).expect("a socket is made");
        let server = Self { state: Arc::default() };
        let answering = server.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                answering.serve(stream);
            }
        });
        server
    }

    /// Sets the pull requests of a head branch, the newest first.
    pub fn set(&self, head: &str, pull_requests: Vec<Value>) {
        self.lock().pull_requests.insert(head.to_owned(), pull_requests);
    }

    /// Lets the next request fail so.
    pub fn fail_next(&self, failure: Failure) {
        self.lock().failures.push_back(failure);
    }

    /// Returns the bodies of all requests so far.
    #[must_use]
    pub fn questions(&self) -> Vec<Value> {
        self.lock().questions.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A client that goes away in the middle is its own affair.
    fn serve(&self, stream: UnixStream) {
        let Some(question) = read_request(&stream) else { return };
        let (failure, body) = {
            let mut state = self.lock();
            state.questions.push(question.clone());
            let failure = state.failures.pop_front();
            (failure, answer(&question, &state.pull_requests))
        };
        let response = match failure {
            None => response(200, &[], &body.to_string()),
            Some(Failure::Status(status, headers, body)) => response(status, &headers, &body.to_string()),
            Some(Failure::Errors(errors)) => response(200, &[], &with_errors(body, errors).to_string()),
            Some(Failure::Garbage) => response(200, &[], "<html>unicorn</html>"),
            Some(Failure::Cut) => {
                let mut whole = response(200, &[], &body.to_string());
                whole.truncate(whole.len() - 5);
                whole
            }
        };
        let mut stream = stream;
        let _ = stream.write_all(response.as_bytes());
    }
}

/// Reads one request; returns its JSON body.
fn read_request(stream: &UnixStream) -> Option<Value> {
    let mut reader = BufReader::new(stream);
    let mut length = Some(0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some((key, value)) = line.split_once(':') {
            match key.to_ascii_lowercase().as_str() {
                "content-length" => length = Some(value.trim().parse().ok()?),
                // What gh reads from its standard input it sends in chunks.
                "transfer-encoding" => length = None,
                _ => {}
            }
        }
    }
    let body = match length {
        Some(length) => exactly(&mut reader, length)?,
        None => chunks(&mut reader)?,
    };
    serde_json::from_slice(&body).ok()
}

fn exactly(reader: &mut impl Read, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

fn chunks(reader: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let length = usize::from_str_radix(line.trim(), 16).ok()?;
        body.extend(exactly(reader, length)?);
        reader.read_line(&mut String::new()).ok()?;
        if length == 0 {
            return Some(body);
        }
    }
}

fn response(status: u16, headers: &[(&str, String)], body: &str) -> String {
    let mut lines = format!(
        "HTTP/1.1 {status} As told\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n",
        body.len()
    );
    for (name, value) in headers {
        lines.push_str(&format!("{name}: {value}\r\n"));
    }
    format!("{lines}\r\n{body}")
}

/// Answers each `alias:pullRequests(headRefName:$variable,first:N…)` of a query.
fn answer(question: &Value, pull_requests: &BTreeMap<String, Vec<Value>>) -> Value {
    let query = question["query"].as_str().unwrap_or_default();
    let mut repository = Map::new();
    repository.insert("nameWithOwner".to_owned(), json!("o/r"));
    for (position, _) in query.match_indices(":pullRequests(headRefName:$") {
        let alias = query[..position].rsplit([' ', '{']).next().unwrap_or_default();
        let rest = &query[position + ":pullRequests(headRefName:$".len()..];
        let variable = rest.split([',', ')']).next().unwrap_or_default();
        let first = rest
            .split_once("first:")
            .and_then(|(_, rest)| rest.split([',', ')']).next()?.parse().ok())
            .unwrap_or(usize::MAX);
        let head = question["variables"][variable].as_str().unwrap_or_default();
        let all = pull_requests.get(head).map(Vec::as_slice).unwrap_or_default();
        let page = json!({
            "nodes": all.iter().take(first).collect::<Vec<_>>(),
            "pageInfo": { "hasNextPage": all.len() > first },
        });
        repository.insert(alias.to_owned(), page);
    }
    json!({ "data": { "repository": repository } })
}

fn with_errors(mut body: Value, errors: Value) -> Value {
    for error in errors.as_array().into_iter().flatten() {
        if let Some(path) = error["path"].as_array()
            && let [_, alias] = path.as_slice()
        {
            body["data"]["repository"][alias.as_str().unwrap_or_default()] = Value::Null;
        }
    }
    body["errors"] = errors;
    body
}

//! `queries/`: what statements mean and give on each database.

use std::path::Path;

use serde_json::Value as Json;

use super::cases::{Case, File, compare, files};
use super::cluster;
use super::tool::{Bound, context, folder, shown};

/// A database with what the head of the file makes, as an address.
fn sqlite(file: &File, folder: &Path) -> String {
    let name = file.path.file_stem().unwrap().display();
    let path = format!("{name}.db");
    let connection = rusqlite::Connection::open(folder.join(&path)).unwrap();
    connection.execute_batch(&file.head).unwrap();
    format!("sqlite:{path}")
}

async fn play(case: &Case, database: &str, folder: &Path) -> Case {
    let (mut declared, mut bound, mut lines) = (String::new(), None, Vec::new());
    for line in case.lines.iter().filter(|line| !line.starts_with("=> ")) {
        lines.push(line.clone());
        let word = line.split([' ', '(']).next().unwrap_or_default();
        if ["type", "enum", "tool"].contains(&word) {
            let others = declared
                .lines()
                .filter(|l| word != "tool" || !l.starts_with("tool"));
            let others: String = others.map(|line| format!("{line}\n")).collect();
            declared = format!("{others}{line}\n");
        } else if line.starts_with("{ sql: ") {
            let binding = line.replace("DB", database);
            match Bound::new(&declared, &binding, folder) {
                Ok(tool) => bound = Some(tool),
                Err(messages) => {
                    bound = None;
                    lines.extend(
                        messages
                            .iter()
                            .map(|message| format!("=> refused: {message}")),
                    );
                }
            }
        } else if let Ok(args) = serde_json::from_str::<Json>(line) {
            let bound = bound
                .as_ref()
                .unwrap_or_else(|| panic!("`{}` calls nothing: {lines:?}", case.name));
            let outcome = bound.call(&args, &context()).await;
            lines.push(shown(&outcome));
        } else if !line.is_empty() && !line.starts_with('#') {
            panic!("`{line}` of `{}`", case.name);
        }
    }
    Case {
        name: case.name.clone(),
        lines,
    }
}

/// The same in a schema of its own on a server.
async fn postgres(file: &File) -> String {
    let url = cluster::shared().url();
    let schema = url.rsplit_once('=').unwrap().1;
    let server = graphc::store::Server::parse(&url, Path::new(".")).unwrap();
    let client = server.connect().await.unwrap().client;
    let made = format!("CREATE SCHEMA {schema}; {}", file.head);
    client.batch_execute(&made).await.unwrap();
    url
}

async fn run(file: &File, database: &str, folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for case in &file.cases {
        found.push(play(case, database, folder).await);
    }
    compare(file, &found)
}

#[tokio::test]
async fn on_sqlite() {
    let folder = folder("queries");
    let mut wrong = Vec::new();
    for file in files("queries") {
        if !file.head.starts_with("-- postgres\n") {
            let database = sqlite(&file, &folder);
            wrong.extend(run(&file, &database, &folder).await);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn on_postgres() {
    let folder = folder("queries-postgres");
    let mut wrong = Vec::new();
    for file in files("queries") {
        if !file.head.starts_with("-- sqlite\n") {
            let database = postgres(&file).await;
            wrong.extend(run(&file, &database, &folder).await);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

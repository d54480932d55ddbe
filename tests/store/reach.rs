//! The way to a server: encrypted or not, with a password or not, without an answer.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use graphc::run::store::{Store, StoreError};
use graphc::store::{Options, PostgresStore};

use super::records::message;
use crate::cluster::Cluster;

fn try_open(url: &str) -> Result<PostgresStore, StoreError> {
    PostgresStore::open_with(url, Path::new("."), Options::default())
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

fn openssl(folder: &Path, args: &str) {
    let mut words = vec!["-c".to_owned()];
    words.push(format!("openssl {args}"));
    let output = Command::new("sh")
        .args(words)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "openssl {args}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// An authority and a certificate of it for `localhost`; another authority that has signed nothing.
fn certificates(folder: &Path) {
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    for name in ["ca", "other"] {
        openssl(
            folder,
            &format!("req -x509 {key} -days 2 -subj /CN={name} -keyout {name}.key -out {name}.pem"),
        );
    }
    openssl(
        folder,
        &format!("req {key} -subj /CN=localhost -keyout server.key -out server.csr"),
    );
    std::fs::write(
        folder.join("names"),
        "subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\n",
    )
    .unwrap();
    openssl(
        folder,
        "x509 -req -days 2 -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -extfile names -out server.pem",
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_way_there_is_encrypted_as_asked_for() {
    let folder = super::folder();
    certificates(&folder);
    let port = free_port();
    let tcp = ["listen_addresses=localhost", &format!("port={port}")];
    let cluster = Cluster::start(&tcp);
    let url = |host: &str, options: &str| {
        format!("postgres://postgres:pw@{host}:{port}/postgres?schema=tls{options}")
    };
    let open = |host: &str, options: &str| {
        PostgresStore::open_with(&url(host, options), &folder, Options::default())
    };
    // A server that can't: whoever asked for encryption gets none of the store either.
    for options in [
        "&sslmode=require",
        "&sslmode=verify-ca",
        "&sslmode=verify-full",
    ] {
        let refusal = message(open("localhost", options));
        assert!(refusal.contains("server does not support TLS"), "{refusal}");
    }
    for options in ["", "&sslmode=prefer", "&sslmode=disable"] {
        drop(open("localhost", options).unwrap());
    }

    let data = cluster.folder().join("data");
    for file in ["server.pem", "server.key"] {
        std::fs::copy(folder.join(file), data.join(file)).unwrap();
    }
    let own = "chown --reference=. server.pem server.key && chmod 600 server.key";
    let owned = Command::new("sh")
        .args(["-c", own])
        .current_dir(&data)
        .status();
    assert!(owned.unwrap().success());
    let settings = "ssl = on\nssl_cert_file = 'server.pem'\nssl_key_file = 'server.key'\n";
    let mut auto = std::fs::read_to_string(data.join("postgresql.auto.conf")).unwrap();
    auto.push_str(settings);
    std::fs::write(data.join("postgresql.auto.conf"), auto).unwrap();
    cluster.stop();
    cluster.start_again();
    for options in [
        "",
        "&sslmode=prefer",
        "&sslmode=require",
        "&sslmode=require&sslrootcert=ca.pem",
        "&sslmode=verify-ca&sslrootcert=ca.pem",
        "&sslmode=verify-full&sslrootcert=ca.pem",
    ] {
        let store: Arc<dyn Store> = Arc::new(open("localhost", options).unwrap());
        let lease = store.acquire("t").await.unwrap();
        assert!(encrypted(&cluster, port).await, "{options}");
        store.release(lease).await.unwrap();
    }
    let plain: Arc<dyn Store> = Arc::new(open("localhost", "&sslmode=disable").unwrap());
    let _lease = plain.acquire("t").await.unwrap();
    assert!(!encrypted(&cluster, port).await);

    let refused = [
        (
            "localhost",
            "&sslmode=verify-full&sslrootcert=other.pem",
            "certificate",
        ),
        (
            "localhost",
            "&sslmode=verify-ca&sslrootcert=other.pem",
            "certificate",
        ),
        (
            "localhost",
            "&sslmode=require&sslrootcert=other.pem",
            "certificate",
        ),
        ("localhost", "&sslmode=verify-full", "certificate"),
        (
            "127.0.0.1",
            "&sslmode=verify-full&sslrootcert=ca.pem",
            "not valid for name",
        ),
    ];
    for (host, options, reason) in refused {
        let refusal = message(open(host, options));
        assert!(refusal.contains(reason), "{options}: {refusal}");
        assert!(!refusal.contains("pw@"), "{refusal}");
    }
    // Signed, but for another name.
    drop(open("127.0.0.1", "&sslmode=verify-ca&sslrootcert=ca.pem").unwrap());
}

/// Whether the connections of the stores are.
async fn encrypted(cluster: &Cluster, port: u16) -> bool {
    let folder = cluster.folder().display().to_string().replace('/', "%2F");
    let url = format!("postgres://postgres@{folder}:{port}/postgres");
    let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls)
        .await
        .unwrap();
    tokio::spawn(connection);
    let sql = "SELECT bool_and(ssl), bool_or(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
               WHERE application_name = 'graphc'";
    let row = client.query_one(sql, &[]).await.unwrap();
    assert_eq!(row.get::<_, bool>(0), row.get::<_, bool>(1));
    row.get(0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_password_is_told() {
    let port = free_port();
    let tcp = ["listen_addresses=localhost", &format!("port={port}")];
    let cluster = Cluster::start(&tcp);
    let folder = cluster.folder().display().to_string().replace('/', "%2F");
    let socket = format!("postgres://postgres@{folder}:{port}/postgres");
    let (client, connection) = tokio_postgres::connect(&socket, tokio_postgres::NoTls)
        .await
        .unwrap();
    tokio::spawn(connection);
    client
        .batch_execute("CREATE ROLE ann LOGIN SUPERUSER PASSWORD 'p@ss/word?'")
        .await
        .unwrap();
    std::fs::write(
        cluster.folder().join("data/pg_hba.conf"),
        "local all all trust\nhost all all all scram-sha-256\n",
    )
    .unwrap();
    client
        .batch_execute("SELECT pg_reload_conf()")
        .await
        .unwrap();
    let url = |password: &str| format!("postgres://ann:{password}@localhost:{port}/postgres");
    let deadline = Instant::now() + Duration::from_secs(10);
    let refusal = loop {
        match try_open(&url("hunter2")) {
            // The server has not read its settings yet.
            Ok(_) => assert!(Instant::now() < deadline),
            Err(error) => break error.to_string(),
        }
    };
    let expected =
        "password authentication failed for user \"ann\"; check the user and the password";
    assert!(refusal.contains(expected), "{refusal}");
    assert!(!refusal.contains("hunter2"), "{refusal}");
    let refusal = message(try_open(&url("p@ss/word?")));
    let expected = "the address `postgres://..` ";
    assert!(refusal.starts_with(expected), "{refusal}");
    assert!(!refusal.contains("p@ss"), "{refusal}");
    drop(try_open(&url("p%40ss%2Fword%3F")).unwrap());
}

/// Nobody listens, and nobody says so: a wait that ends.
#[test]
fn a_server_that_does_not_answer_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let start = Instant::now();
    let url = format!("postgres://u:pw@127.0.0.1:{port}/d?connect_timeout=1");
    let refusal = message(try_open(&url));
    assert!(
        refusal.contains("no connection could be made within 1 s"),
        "{refusal}"
    );
    assert!(start.elapsed() < Duration::from_secs(5));
}

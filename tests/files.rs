//! What a path argument stands for, and what is said where it can't be read; the variables of a `.env`.

use std::fs;
use std::path::{Path, PathBuf};

use graphc::cli::files::{each_once, find, read, shown};
use graphc::project::environment::Environment;
use graphc::project::relative;
use graphc::project::text::MOST_BYTES;

/// A fresh folder with these files in it.
fn folder(name: &str, files: &[(&str, &[u8])]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("files-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for (path, content) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    folder
}

fn said(path: &Path) -> String {
    let failure = read(path).unwrap_err();
    assert_eq!(failure.exit.status(), 2);
    failure.message
}

#[test]
fn a_folder_is_searched_in_order() {
    let root = folder(
        "search",
        &[
            ("b.graph", b"b"),
            ("a/z.graph", b"z"),
            ("a/deep/er/y.graph", b"y"),
            ("a/notes.md", b"n"),
            (".git/x.graph", b"x"),
            ("target/x.graph", b"x"),
            ("a/node_modules/x.graph", b"x"),
            (".hidden.graph", b"h"),
        ],
    );
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&root, root.join("a/round")).unwrap();
        std::os::unix::fs::symlink(root.join("gone"), root.join("a/gone.graph")).unwrap();
        std::os::unix::fs::symlink(root.join("b.graph"), root.join("c.graph")).unwrap();
    }
    let found = each_once(
        &[
            root.clone(),
            root.join("b.graph"),
            root.join("a/../b.graph"),
        ],
        find,
    )
    .unwrap();
    let sources: Vec<_> = found.iter().map(|path| read(path).unwrap()).collect();
    let texts: Vec<&str> = sources.iter().map(|source| source.text.as_str()).collect();
    assert_eq!(texts, ["h", "y", "z", "b"]);
    assert!(sources[1].name.ends_with("files-search/a/deep/er/y.graph"));
}

#[test]
fn a_folder_without_a_flow_is_a_failure() {
    let root = folder("none", &[("a.md", b"a")]);
    let failure = find(&root).unwrap_err();
    assert!(failure.message.starts_with("no `*.graph` file in `"));
    assert_eq!(failure.exit.status(), 2);
}

#[test]
fn what_cannot_be_read_is_named() {
    let root = folder(
        "bad",
        &[("latin.graph", b"graph \xe9 {}"), ("ok.graph", b"")],
    );
    assert!(
        said(&root.join("latin.graph"))
            .ends_with("latin.graph` is not UTF-8: wrong byte at offset 6")
    );
    assert!(said(&root.join("gone.graph")).starts_with("there is no file or folder `"));
    assert!(said(&root.join("ok.graph/x")).contains("ok.graph/x`"));
    assert!(said(&root).starts_with("could not read `"));
    assert_eq!(read(&root.join("ok.graph")).unwrap().text, "");
}

#[test]
fn a_file_that_is_too_large_is_not_read_whole() {
    let root = folder("large", &[]);
    let path = root.join("large.graph");
    let file = fs::File::create(&path).unwrap();
    file.set_len(MOST_BYTES + 1).unwrap();
    assert!(said(&path).ends_with("large.graph` is larger than 16 MiB"));
    file.set_len(MOST_BYTES).unwrap();
    assert_eq!(read(&path).unwrap().text.len() as u64, MOST_BYTES);
    fs::remove_file(&path).unwrap();
}

#[test]
fn names_are_shown_as_given() {
    assert_eq!(shown(Path::new("./a/b.graph")), "a/b.graph");
    assert_eq!(shown(Path::new("../b.graph")), "../b.graph");
    assert_eq!(shown(Path::new(".")), ".");
}

#[test]
fn ways_lead_up_and_down() {
    for (path, folder, way) in [
        ("/a/b/c.graph", "/a/b", "c.graph"),
        ("/a/b/c.graph", "/a", "b/c.graph"),
        ("/a/c.graph", "/a/b/d", "../../c.graph"),
        ("/x/c.graph", "/a", "../x/c.graph"),
    ] {
        assert_eq!(relative(Path::new(path), Path::new(folder)), way);
    }
}

#[test]
fn lines_of_an_environment_give_variables() {
    let of = |text: &str| {
        let root = folder("environment", &[(".env", text.as_bytes())]);
        Environment::of(Some(&root.join("graphc.yaml")))
    };
    let text = "\u{feff}# note\n\nOF_A=1\nexport OF_B = two words # note\nOF_C='x # \\n'\nOF_D=\"a\\n\\\"b\\\\\" # note\nOF_E=\nOF_F=a#b\r\n";
    let environment = of(text).unwrap();
    for (name, value) in [
        ("OF_A", "1"),
        ("OF_B", "two words"),
        ("OF_C", "x # \\n"),
        ("OF_D", "a\n\"b\\"),
        ("OF_E", ""),
        ("OF_F", "a#b"),
    ] {
        assert_eq!(environment.get(name).as_deref(), Some(value), "{name}");
    }
    for (text, line) in [("A", 1), ("A=1\n2B=x", 2), ("\nA='x", 2), ("A=\"x\\\"", 1)] {
        let message = of(text).err().unwrap().message;
        assert!(message.contains(&format!(", line {line}: ")), "{message}");
    }
}

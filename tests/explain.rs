//! The pages of the diagnostics: complete, well formed, and listed in docs/diagnostics/README.md.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use graphc::diag::{Page, codes, page};

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

#[test]
fn codes_are_unique_slugs() {
    let mut seen = BTreeSet::new();
    for code in codes::ALL {
        let slug = code.slug;
        assert!(seen.insert(slug), "`{slug}` is given twice");
        let words: Vec<&str> = slug.split('-').collect();
        let word = |w: &&str| !w.is_empty() && w.chars().all(|c| c.is_ascii_lowercase());
        assert!(words.iter().all(word), "`{slug}` is no slug");
        assert_eq!(codes::find(slug).map(|found| found.slug), Some(slug));
    }
}

#[test]
fn groups_begin_with_codes_in_their_order() {
    let place = |slug: &str| codes::ALL.iter().position(|code| code.slug == slug);
    let places: Vec<_> = codes::GROUPS
        .iter()
        .map(|(_, first)| place(first))
        .collect();
    assert_eq!(places.first(), Some(&Some(0)), "the first code has a group");
    assert!(places.iter().all(Option::is_some), "{places:?}");
    assert!(places.is_sorted(), "{places:?}");
    let list = page::list();
    for (group, _) in codes::GROUPS {
        assert!(list.contains(&format!("{group}\n  ")), "{group}");
    }
}

#[test]
fn every_page_has_its_parts() {
    for code in codes::ALL {
        let slug = code.slug;
        let page = Page::parse(code.page).unwrap_or_else(|| {
            panic!("the page of `{slug}` needs `# {slug}`, why, `## Wrong` and `## Right`, each with a `graph` block")
        });
        assert_eq!(page.title, slug);
        assert!(page.why.len() > 20, "`{slug}` doesn't say why");
        assert!(page.why.ends_with('.'), "`{slug}`: why isn't sentences");
        assert_ne!(
            page.wrong, page.right,
            "`{slug}`: wrong and right are the same"
        );
        assert_eq!(code.page.matches("```").count(), 4, "`{slug}`: two blocks");
        assert!(code.page.ends_with('\n'), "`{slug}`: ends in a line end");
    }
}

#[test]
fn every_page_belongs_to_a_code() {
    for entry in std::fs::read_dir(project("docs/diagnostics")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let slug = name.strip_suffix(".md").expect("a page");
        if slug == "README" {
            continue;
        }
        assert!(codes::find(slug).is_some(), "no code has the page {name}");
    }
}

#[test]
fn the_index_is_made_of_the_pages() {
    let path = project("docs/diagnostics/README.md");
    let index = page::index();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &index).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == index,
        "docs/diagnostics/README.md is not what the pages give; UPDATE=1 writes it anew"
    );
}

#[test]
fn pages_with_a_part_missing_are_no_pages() {
    let whole =
        "# a-b\n\nWhy. More.\n\n## Wrong\n\n```graph\nx\n```\n\n## Right\n\n```graph\ny\n```\n";
    let page = Page::parse(whole).unwrap();
    assert_eq!((page.title, page.summary()), ("a-b", "Why"));
    assert_eq!((page.wrong, page.right), ("x\n", "y\n"));
    for part in [
        "# a-b\n",
        "Why. More.",
        "## Wrong\n",
        "## Right\n",
        "```graph\nx",
        "y\n",
    ] {
        assert_eq!(Page::parse(&whole.replace(part, "")), None, "{part}");
    }
}

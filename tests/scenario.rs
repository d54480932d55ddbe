//! What makes scenarios the same in every run: the clock and the chance, and the order of what was seen.

use graphc::run::ambient::Ambient;
use graphc::scenario::ambient::StillAmbient;
use graphc::scenario::order::sort;

#[test]
fn ids_count_up_and_the_clock_stands() {
    let ambient = StillAmbient::new(None);
    assert_eq!(ambient.now().to_string(), "2026-01-01T00:00:00Z");
    assert_eq!(ambient.uuid(0), "00000000-0000-4000-8000-000000000001");
    assert_eq!(ambient.uuid(15), "00000000-0000-4000-8000-000000000010");
    assert_eq!(
        ambient.uuid(u64::MAX),
        "ffffffff-0000-4000-8000-000000000000"
    );
    let chances: Vec<f64> = (0..100).map(|n| ambient.random(n)).collect();
    assert!(chances.iter().all(|chance| (0.0..1.0).contains(chance)));
    assert!(chances.iter().any(|c| *c < 0.2) && chances.iter().any(|c| *c > 0.8));
}

#[test]
fn what_a_task_does_stands_around_what_its_subgraph_does() {
    let outer = vec![(1, 2, 0)];
    let inner = |node| vec![(1, 2, 0), (0, node, 0)];
    let told = vec![
        (outer.clone(), "on start"),
        (vec![(1, 1, 0)], "declared before"),
        (inner(3), "later inside"),
        (inner(1), "inside"),
        (outer, "at the end"),
        (vec![(0, 9, 0)], "step before"),
    ];
    assert_eq!(
        sort(told),
        [
            "step before",
            "declared before",
            "on start",
            "inside",
            "later inside",
            "at the end"
        ]
    );
}

//! Shared sets against the plain ones.

use std::collections::BTreeSet;

use graphc::base::SharedSet;

/// Numbers that look like chance, the same each time.
fn numbers(seed: u64) -> impl Iterator<Item = u64> {
    let mut now = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    std::iter::repeat_with(move || {
        now ^= now << 13;
        now ^= now >> 7;
        now ^= now << 17;
        now
    })
}

#[test]
fn it_does_what_a_set_does() {
    let (mut shared, mut plain) = (SharedSet::new(), BTreeSet::new());
    let mut past = Vec::new();
    for n in numbers(1).take(5_000) {
        let key = n % 300;
        match n >> 32 & 1 {
            0 => assert_eq!(shared.insert(key), plain.insert(key)),
            _ => assert_eq!(shared.remove(&key), plain.remove(&key)),
        }
        assert_eq!(shared.contains(&(key + 1)), plain.contains(&(key + 1)));
        if n % 97 == 0 {
            past.push((shared.clone(), plain.clone()));
        }
    }
    past.push((shared, plain));
    for (shared, plain) in &past {
        assert!(shared.iter().eq(plain));
        for (other, plain_other) in &past {
            let mut both = shared.clone();
            assert_eq!(both.join(other), !plain_other.is_subset(plain));
            assert!(both.iter().eq(&(plain | plain_other)));
            let mut both = shared.clone();
            assert_eq!(both.keep(other), !plain.is_subset(plain_other));
            assert!(both.iter().eq(&(plain & plain_other)));
            let mut rest = shared.clone();
            rest.without(other);
            assert!(rest.iter().eq(&(plain - plain_other)));
            assert_eq!(shared == other, plain == plain_other);
        }
    }
}

#[test]
fn it_can_be_read_from_a_key_on() {
    let all: SharedSet<u64> = numbers(2).take(500).map(|n| n % 1_000).collect();
    for first in 0..1_001 {
        assert!(
            all.starting_at(&first)
                .eq(all.iter().filter(|key| **key >= first))
        );
    }
}

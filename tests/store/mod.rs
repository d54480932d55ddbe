//! One suite for every store.
//!
//! A case is a function over `Arc<dyn Store>`; a further store is one more `cases!` line and a
//! function that makes an empty one. `agree` compares two stores at random. What only a file has
//! is tested in `sqlite` and `broken`, what only a server has in `postgres`, `server`, `reconnects` and `reach`, and what takes several
//! processes in `processes`. `ported` has what is expected of LangGraph's stores, by the names it has there.

mod agree;
mod appends;
mod broken;
mod leases;
mod past;
mod ported;
mod postgres;
mod processes;
mod reach;
mod reads;
mod reconnects;
mod records;
mod remembered;
mod results;
mod searched;
mod server;
mod sqlite;
mod urls;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use crate::cluster;
use graphc::run::store::Store;
use graphc::store::{MemoryStore, Options, PostgresStore, SqliteStore};

/// A new folder of its own, under the build's.
fn folder() -> PathBuf {
    static ALL: LazyLock<PathBuf> = LazyLock::new(|| {
        let tmp = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("store");
        remove_old(&tmp);
        tmp.join(std::process::id().to_string())
    });
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = ALL.join(count.to_string());
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Removes what runs of more than an hour ago have left.
fn remove_old(tmp: &Path) {
    for run in std::fs::read_dir(tmp).into_iter().flatten().flatten() {
        let age = run
            .metadata()
            .and_then(|m| m.modified())
            .map(|m| m.elapsed());
        if age.is_ok_and(|age| age.is_ok_and(|age| age > Duration::from_secs(3600))) {
            let _ = std::fs::remove_dir_all(run.path());
        }
    }
}

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

fn sqlite_file() -> Arc<dyn Store> {
    Arc::new(SqliteStore::open(folder().join("threads.db")).unwrap())
}

fn postgres_at(url: &str) -> Arc<dyn Store> {
    Arc::new(PostgresStore::open_with(url, Path::new("."), Options::default()).unwrap())
}

fn postgres_schema() -> Arc<dyn Store> {
    postgres_at(&cluster::shared().url())
}

/// Runs cases against a store, each with an empty one.
macro_rules! suite {
    ($store:ident: $($area:ident { $($case:ident)* })*) => {
        mod $store {
            $($(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    crate::store::$area::$case(crate::store::$store()).await;
                }
            )*)*
        }
    };
}

/// The suite.
macro_rules! cases {
    ($store:ident) => {
        suite! { $store:
            appends {
                every_kind_of_value_comes_back
                changes_add_up
                additions_to_nothing_make_a_list_and_a_map
                one_field_may_change_twice_in_a_step
                status_is_replaced
                an_append_is_kept_whole_or_not_at_all
                wrong_records_are_refused
                first_records_hold_a_status
                an_empty_append_changes_nothing
                many_tasks_append_at_once
            }
            reads {
                an_unknown_thread_is_empty
                frames_are_apart
                only_frames_of_the_current_step_are_live
                frames_stay_live_while_the_root_is_edited
                effects_are_those_of_the_current_step_in_order
                effects_are_counted
                threads_are_listed_the_latest_used_first
                history_is_paged_from_the_newest
                state_is_that_of_an_older_checkpoint
                names_may_hold_anything
            }
            leases {
                a_thread_has_one_writer
                an_old_lease_is_fenced_off
                an_old_lease_releases_nothing
                a_deleted_thread_leaves_nothing
                a_thread_in_use_is_not_deleted
                one_of_many_gets_the_thread
                a_look_takes_nothing
            }
            past {
                an_image_is_that_of_an_older_checkpoint
                an_image_has_the_effects_of_its_time_or_all
                the_latest_image_is_what_a_resume_reads
                an_unknown_checkpoint_names_the_nearest
                a_fork_has_what_was_and_stands_alone
                a_fork_keeps_later_effects_or_not
                a_fork_is_refused_where_it_can_not_be
                a_fork_begins_with_records_of_its_own
                forks_are_made_while_their_source_is_written
                compaction_keeps_what_is_kept
                compaction_keeps_live_frames
                compaction_needs_the_lease_and_a_checkpoint
                a_compacted_thread_is_forked
                records_are_listed_whole
                a_forgotten_effect_answers_no_more
            }
            ported {
                put_returns_what_get_tuple_finds
                put_links_to_its_parent
                put_isolates_threads
                put_isolates_child_namespaces
                put_incremental_unchanged_channel_is_read_from_an_older_version
                put_incremental_removed_channel_is_absent
                put_writes_of_several_tasks_keep_their_order_and_task_path
                put_writes_is_made_once_per_task_and_index
                put_writes_are_not_visible_on_the_next_checkpoint
                get_tuple_by_id_is_what_was_then
                get_tuple_of_what_is_not_there
                list_is_newest_first_before_is_exclusive_and_limit_comes_last
                list_spans_namespaces
                delete_thread_spans_namespaces_and_leaves_others
                copy_thread_keeps_order_and_leaves_the_source_untouched
                prune_keep_latest_keeps_it_in_each_namespace
                prune_leaves_other_threads
                delta_channel_history_goes_from_the_oldest_to_the_newest
                delta_channel_history_excludes_the_targets_own_pending_writes
                delta_channel_history_replays_a_seeds_own_writes
                delta_channel_history_takes_a_plain_value_as_seed
                concurrent_writers_are_fenced
            }
            remembered {
                what_is_put_is_got
                what_is_deleted_is_gone
                a_write_is_made_once
                an_item_is_there_until_its_time
                a_time_may_be_as_long_as_can_be
                what_is_over_is_swept_away
                many_put_at_once
            }
            searched {
                a_search_is_of_a_namespace_and_below
                a_search_gives_the_newest_first_in_pages
                a_search_ends_where_it_has_enough_bytes
                a_filter_looks_into_values
                a_filter_with_dots_is_one_of_objects
                namespaces_are_listed
                what_is_near_comes_first
                names_of_namespaces_are_checked
            }
            results {
                a_result_is_kept_by_its_key
                a_result_holds_until_its_time
                results_that_are_over_are_swept
            }
        }
    };
}

cases!(memory);
cases!(sqlite_file);
cases!(postgres_schema);

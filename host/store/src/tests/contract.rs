//! What any store must do.

mod programs;
mod requests;
mod sessions;
mod stats;

/// A test for each function of the contract, on a fresh SQLite store.
macro_rules! on_sqlite {
    ($($module:ident: $($name:ident),+;)+) => {$(
        mod $module {
            $(
                #[tokio::test]
                async fn $name() {
                    let (store, _folder) = crate::tests::fresh().await;
                    super::super::$module::$name(&store).await;
                }
            )+
        }
    )+};
}

mod on_sqlite {
    on_sqlite! {
        requests:
            what_was_written_is_read_back,
            a_known_id_is_left_alone,
            filters_select_exactly_what_they_say,
            pages_hold_each_row_once_while_others_are_written,
            a_cursor_of_another_order_is_refused,
            neighbours_are_those_in_time;
        stats:
            a_summary_equals_what_the_list_gives,
            groups_come_by_size_and_versions_may_be_missing,
            rates_cover_the_range_asked_for,
            rates_of_all_groups_are_over_one_span,
            nothing_is_one_group_of_nothing,
            histograms_count_every_request_once;
        programs:
            versions_are_numbered_from_one,
            versions_added_at_once_get_different_numbers,
            only_existing_versions_become_active,
            removing_a_program_leaves_its_requests,
            every_change_moves_the_generation;
        sessions:
            a_session_ends_at_its_time_or_when_idle,
            use_keeps_a_session_alive,
            a_removed_session_is_gone;
    }
}

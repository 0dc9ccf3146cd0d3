//! The admin listener: dashboard, API, metrics, health.

//! A fleet among strangers: forged jobs and results, workers that lie, logins. Real NATS servers on loopback, each with a port
//! and a folder of its own.

mod jobs;
mod liar;
mod logins;
mod results;
mod scene;

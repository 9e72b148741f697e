/** Names and bucket bounds of metrics. @module */
import type * as PromClient from 'prom-client'

/** The library, loaded by a process that has metrics. */
export type MetricsLibrary = typeof PromClient

/** Prefix of every service metric. Process metrics keep the names that Prometheus clients share. */
export const prefix = 'payment_integration_'

/** Upper bounds of durations, in seconds: from a look-up in memory to a receiver that uses its whole time limit. */
export const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/**
 * Upper bounds from a commit to the receiver's answer, in seconds: from the first attempt to the last, three days
 * later.
 */
export const publishBuckets = [...durationBuckets, 60, 300, 900, 3_600, 10_800, 43_200, 86_400, 259_200]

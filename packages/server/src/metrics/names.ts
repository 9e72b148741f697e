/** How metrics are called. @module */

/**
 * Begins the name of every metric of the service; those of the process keep the names that Prometheus clients share.
 */
export const prefix = 'payment_integration_'

/**
 * Upper bounds of durations, in seconds: from a look-up in memory to a receiver that takes all the time it is given.
 */
export const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/**
 * Upper bounds from a commit to the receiver's answer, in seconds: on the first attempt, up to the last one three days
 * afterwards.
 */
export const publishBuckets = [...durationBuckets, 60, 300, 900, 3_600, 10_800, 43_200, 86_400, 259_200]

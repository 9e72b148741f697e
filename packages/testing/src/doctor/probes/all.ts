/** All probes, in the order in which they run. @module */
import { bodyProbes } from './body.js'
import { connectionProbes } from './connection.js'
import { contentTypeProbes } from './content-type.js'
import { headerProbes } from './header.js'
import type { ProbeSpec } from './probe.js'
import { lastProbes, reachProbes, urlProbe } from './reach.js'
import { rejectedProbes } from './rejected.js'
import { versionProbes } from './versions.js'
import { windowProbes } from './window.js'

/** The probes of a URL. */
export function probesOf(url: URL): readonly ProbeSpec[] {
  return [
    urlProbe(url),
    ...reachProbes,
    ...bodyProbes,
    ...headerProbes,
    ...versionProbes,
    ...rejectedProbes,
    ...windowProbes,
    ...contentTypeProbes,
    ...connectionProbes,
    ...lastProbes,
  ]
}

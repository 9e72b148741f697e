/** Probes of the signature header with valid signatures. Source: docs/interface.md 6, signature rule 3. @module */
import { accepted, type ProbeSpec, withHeader } from './probe.js'

const rule = '6 signature rule 3: look up the version, ignore unknown fields'
const other = 'ab'.repeat(32)

/** Probes of valid headers in other forms than today's. */
export const headerProbes: readonly ProbeSpec[] = [
  accepted({
    name: 'second-scheme',
    sent: 't=…,v1=<valid>,v2=<other>',
    clause: rule,
    cause: 'scheme-by-position',
    effects: 1,
    make: async (bench) => [await withHeader(bench, ({ t, v1 }) => `t=${t},v1=${v1},v2=${other}`)],
  }),
  accepted({
    name: 'second-scheme-first',
    sent: 't=…,v2=<other>,v1=<valid>',
    clause: rule,
    cause: 'scheme-by-position',
    effects: 1,
    make: async (bench) => [await withHeader(bench, ({ t, v1 }) => `t=${t},v2=${other},v1=${v1}`)],
  }),
  accepted({
    name: 'reordered-fields',
    sent: 'v1=<valid>,t=…',
    clause: '6 signature rule 3: the header is a list of name=value fields',
    cause: 'field-order',
    effects: 1,
    make: async (bench) => [await withHeader(bench, ({ t, v1 }) => `v1=${v1},t=${t}`)],
  }),
  accepted({
    name: 'unknown-header-field',
    sent: 't=…,kid=2,v1=<valid>',
    clause: rule,
    cause: 'rejects-header-fields',
    effects: 1,
    make: async (bench) => [await withHeader(bench, ({ t, v1 }) => `t=${t},kid=2,v1=${v1}`)],
  }),
  accepted({
    name: 'header-case',
    sent: 'the names of the headers in lower case, then in upper case',
    clause: '6 Headers; HTTP header names have no case',
    cause: 'header-case',
    effects: 2,
    async make(bench) {
      const spelled = async (spell: (name: string) => string) => {
        const { headers, body } = await bench.deliveries.good(bench.payment())
        return {
          headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [spell(name), value])),
          body,
        }
      }
      return [await spelled((name) => name.toLowerCase()), await spelled((name) => name.toUpperCase())]
    },
  }),
]

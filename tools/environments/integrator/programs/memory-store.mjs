/** The published conformance suite on the memory store. @module */

/** Tests that memory cannot pass, by the beginning of their names. They must fail. */
const impossibleTests = [
  'a failed effect leaves none of its writes',
  'a fault (lost after) at any operation of a first',
  'a fault (lost after) at any operation of a greater',
  ...['rejected', 'lost before', 'lost after'].flatMap((fault) => [
    `a fault (${fault}) at any operation around a failing`,
    `a fault (${fault}) at any operation of a duplicate`,
  ]),
]

export async function* memoryStore({ conformance, versionStore }) {
  const tests = []
  conformance.versionStoreConformance(
    'memory',
    async ({ operation }) => {
      const notes = []
      return {
        store: versionStore.createMemoryVersionStore(),
        write: (_, note) =>
          operation(() => {
            notes.push(note)
          }),
        notes: async () => notes,
      }
    },
    {
      test: (name, run) => tests.push({ name, run }),
      excuse: impossibleTests.map((name) => ({ test: name, reason: 'memory has no transaction' })),
    },
  )
  for (const { name, run } of tests) {
    const failure = await run().then(
      () => undefined,
      (error) => error,
    )
    yield failure === undefined ? `right ${name}` : `WRONG ${name}: ${failure?.message ?? failure}`
  }
}

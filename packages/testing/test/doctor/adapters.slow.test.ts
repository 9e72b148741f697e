/** The adapters of the webhook package pass the doctor, each in its framework. @module */
import { createMemoryVersionStore, createReceiver } from '@payment-integration/version-store'
import { createVerifier } from '@payment-integration/webhook'
import { expect, onTestFinished, test } from 'vitest'
import { subjects } from '../../../webhook/test/adapters/subjects.js'
import type { DoctorFetch } from '../../src/doctor/send.js'
import { doctorProbeNames, runDoctor } from '../../src/exports/doctor.js'

const signingSecret = 'whsec_of_the_adapters'
const integrationAddress = `0x${'ab'.repeat(20)}`
// In a controller of Nest a parser comes first: it reads what the doctor breaks off.
const examined = subjects.filter(({ name }) => !name.includes('in a controller'))

test.each(examined)('$name passes every probe that its transport has', async ({ start }) => {
  let handled = 0
  const { verify } = createVerifier({ secrets: signingSecret })
  const { receive } = createReceiver({ verify, store: createMemoryVersionStore(), handle: () => void handled++ })
  // The doctor sends broken uploads, which some adapters report.
  const host = await start({ receive, onError: () => undefined }, false)
  onTestFinished(() => host.close())
  const send: DoctorFetch = async (_, delivery) => new Response(null, { status: (await host.send(delivery)).status })
  const url = host.port === undefined ? 'https://function.example' : `http://127.0.0.1:${host.port}/webhook`
  const report = await runDoctor({
    ...{ url, signingSecret, integrationAddress, effects: async () => handled },
    ...(host.port === undefined ? { fetch: send } : {}),
    // No verdict depends on the speed of this machine.
    timeoutMs: 120_000,
  })
  expect(report.findings).toEqual([])
  expect(report.passed).toBe(doctorProbeNames.length - (host.port === undefined ? 4 : 0))
})

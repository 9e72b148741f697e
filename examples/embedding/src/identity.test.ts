/** Identity verifications of the host's own users, at an identity provider on this machine. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startHostWithUsers } from '../../../packages/testing/test/host-with-users.js'
import { startHost } from './host.js'

test('a proof that the host does not report counts at the next share', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'embedding-identity-'))
  const own = { databasePath: join(folder, 'payments.db'), onEvent: () => undefined }
  const running = await startHostWithUsers((options) => startHost({ ...options, ...own }))
  const { host, share, approveNewest, getSubjects } = running
  onTestFinished(async () => {
    await running.stop()
    await rm(folder, { recursive: true, force: true })
  })
  const email = 'forgotten@example.com'
  const [dora, emil] = [host.users.register(email), host.users.register(email)]
  await host.proveEmail(dora, email)
  await share(email)
  await approveNewest()
  host.users.own(emil, email)
  expect(await share(email)).toMatchObject({ kind: 'in_flight', redeemed: true })
  expect(await getSubjects(emil)).toMatchObject([{ proved: true, review: { reviewAnswer: null } }])
  expect(await getSubjects(dora)).toMatchObject([{ closed: true, review: { reviewAnswer: 'GREEN' } }])
})

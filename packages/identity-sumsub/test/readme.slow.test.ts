import { startIdentityProvider } from '@payment-integration/testing/identity-provider'
import { expect, onTestFinished, test } from 'vitest'
import { readBlocks, runCode } from '../../webhook/test/run-code.js'
import { donor, service } from './support.js'

const [mintLines = '', serviceLines = ''] = readBlocks('packages/identity-sumsub/README.md', 'js')

const run = async (code: string, env: Readonly<Record<string, string>>) =>
  (await runCode({ code, cwd: new URL('..', import.meta.url), env })).stdout

test('the lines of the README mint a token for the service, and redeem it there', async () => {
  const local = await startIdentityProvider({ clients: [donor, service] })
  onTestFinished(() => local.close())
  const { id } = local.addApplicant({ clientId: 'DonorCo' })
  const credentials = ({ appToken, secretKey }: typeof donor | typeof service) => ({
    SUMSUB_URL: local.url,
    SUMSUB_APP_TOKEN: appToken,
    SUMSUB_SECRET_KEY: secretKey,
  })
  const minted = await run(mintLines, { ...credentials(donor), APPLICANT_ID: id, SERVICE_CLIENT_ID: 'ServiceCo' })
  const shareToken = minted.trim()
  const redeemed = await run(serviceLines, { ...credentials(service), SUMSUB_LEVEL: 'basic', SHARE_TOKEN: shareToken })
  expect(local.redemptions).toMatchObject([{ token: shareToken, externalUserId: 'redemption:1' }])
  expect(redeemed).toContain("reviewStatus: 'pending'")
})

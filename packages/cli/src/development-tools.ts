/** The tools that the console of a server in development shows: those of testing. @module */
import type { DevelopmentTools } from '@payment-integration/server/service'

/** Loads the code of a tool at its first use. */
export const developmentTools: DevelopmentTools = {
  async doctor({ url, signingSecret, integrationAddress, signal, onProbe }) {
    const { runDoctor } = await import('@payment-integration/testing/doctor')
    return runDoctor({ url, signingSecret, integrationAddress, signal, onProbe })
  },
  async explain({ headers, body, signingSecret, receivedAt }) {
    const { explainDelivery, parseHeaders, RequestUnreadableError } = await import(
      '@payment-integration/testing/explain'
    )
    try {
      const secrets = [{ name: 'the signing secret of the integration', value: signingSecret }]
      return await explainDelivery({ headers: parseHeaders(headers), body, secrets, now: () => receivedAt })
    } catch (error) {
      if (error instanceof RequestUnreadableError) return { problem: error.message }
      throw error
    }
  },
}

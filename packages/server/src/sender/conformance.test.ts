import { senderConformance } from '@payment-integration/testing/conformance'
import { startRecordingReceiver } from '../../test/support/recording-receiver.js'
import { createUndiciSender } from './undici-sender.js'

senderConformance('undici', async () => {
  const sender = createUndiciSender({ allowLoopbackHttp: true })
  return {
    sender,
    async receive(answer) {
      const receiver = await startRecordingReceiver()
      receiver.answer = ({ method, headers, body }, response) => {
        const texts = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
        const given = answer({ method, headers: texts, body: new Uint8Array(body) })
        if (given !== 'hang') response.writeHead(given.status, given.headers).end(given.body)
      }
      return { url: `${receiver.url}/hook`, close: () => receiver.stop() }
    },
    close: () => sender.close(),
  }
})

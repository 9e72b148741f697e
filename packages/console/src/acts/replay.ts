/** Makes one delivery due now. @module */
import { paymentPath } from '../view/parts.js'
import type { Act } from './act.js'

/** Field `id`: the delivery's id. Leads to its payment. */
export const replayAct: Act = {
  needs: 'operator',
  async run({ fields, commands }) {
    const delivery = await commands.deliveries.replay(fields['id'] ?? '')
    return { to: paymentPath(delivery), note: 'replayed' }
  },
}

/** A new user key, as servers and clients of NATS write it. @module */
import { nkeys } from '@nats-io/transport-node'

/** Makes one. */
export function createNkey(): { readonly user: string; readonly seed: string } {
  const pair = nkeys.createUser()
  return { user: pair.getPublicKey(), seed: new TextDecoder().decode(pair.getSeed()) }
}

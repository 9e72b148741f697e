/** Ids of deliveries on the command line. @module */
import { InvalidArgumentError } from 'commander'

/**
 * Reads an id as lists show it.
 * @throws InvalidArgumentError When it is no such id.
 */
export function parseDeliveryId(text: string): string {
  if (!/^[1-9]\d{0,14}$/.test(text))
    throw new InvalidArgumentError('Expected an id in plain digits, as deliveries list shows it.')
  return text
}

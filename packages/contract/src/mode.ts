/** Builds object schemas: closed for writing, open to unknown fields for reading. @module */
import * as z from 'zod/mini'

/**
 * The treatment of unknown fields. `write` rejects them, so that no internal field leaks into an answer. `read` accepts
 * them, so that a newer service breaks no client.
 */
export type Mode = 'read' | 'write'

/** Builds an object schema in the given mode. Nested objects take the mode from their own builder. */
export function object<Shape extends z.core.$ZodShape>(
  mode: Mode,
  shape: Shape,
): z.ZodMiniObject<Shape, z.core.$strip> {
  // Both return the same class. They differ only in unknown keys, which the wire type does not show.
  const schema = mode === 'write' ? z.strictObject(shape) : z.looseObject(shape)
  return schema as unknown as z.ZodMiniObject<Shape, z.core.$strip>
}

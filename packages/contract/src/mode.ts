/** One description of an object, two schemas: closed when writing, open to unknown fields when reading. @module */
import * as z from 'zod/mini'

/**
 * How an object treats fields that this contract does not name. `write` refuses them, so that nothing leaks into an
 * answer; `read` passes them, so that a newer service breaks nobody.
 */
export type Mode = 'read' | 'write'

/** Builds an object schema in the given mode. Nested objects take the mode from their own builder. */
export function object<Shape extends z.core.$ZodShape>(
  mode: Mode,
  shape: Shape,
): z.ZodMiniObject<Shape, z.core.$strip> {
  // Both calls return the same schema class; only what happens to unknown keys differs, which the wire type does not
  // show.
  const schema = mode === 'write' ? z.strictObject(shape) : z.looseObject(shape)
  return schema as unknown as z.ZodMiniObject<Shape, z.core.$strip>
}

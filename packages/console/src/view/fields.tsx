/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** Fields of acts that people fill in. @module */

/** A line of text. */
export function TextField(props: {
  readonly name: string
  readonly label: string
  readonly value?: string | undefined
  readonly hint?: string | undefined
  readonly type?: 'text' | 'email' | 'url' | undefined
  readonly isOptional?: boolean | undefined
  /** Whether it holds an address or a URL. */
  readonly isLong?: boolean | undefined
}) {
  const { name, label, value = '', hint = '', type = 'text', isOptional = false, isLong = false } = props
  return (
    <label class={isLong ? 'long' : undefined}>
      <span>{label}</span>
      <input
        name={name}
        type={type}
        value={value}
        placeholder={hint}
        required={!isOptional}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
      />
    </label>
  )
}

/** Text of several lines. */
export function TextArea({ name, label, value }: { name: string; label: string; value: string }) {
  return (
    <label class="wide">
      <span>{label}</span>
      {/* A browser drops one line break after the start tag. */}
      <textarea name={name} rows={10} required spellcheck={false}>{`\n${value}`}</textarea>
    </label>
  )
}

/** One of a few values. */
export function ChoiceField(props: {
  readonly name: string
  readonly label: string
  readonly values: readonly string[]
  /** The chosen one. @default the first */
  readonly value?: string | undefined
}) {
  return (
    <label>
      <span>{props.label}</span>
      <select name={props.name}>
        {props.values.map((value) => (
          <option value={value} selected={value === props.value}>
            {value}
          </option>
        ))}
      </select>
    </label>
  )
}

/** How long the previous secret stays valid. To end it at once is an act of its own, which a reload does not repeat. */
export function GraceField() {
  return (
    <label>
      <span>The previous secret stays valid for, in hours</span>
      <input name="graceHours" type="number" min={1} max={720} step={1} value="24" required />
    </label>
  )
}

/** A box to check before an act that cannot be undone. */
export function ConfirmField({ label }: { label: string }) {
  return (
    <label class="confirm">
      <input name="confirmed" type="checkbox" value="yes" required />
      <span>{label}</span>
    </label>
  )
}

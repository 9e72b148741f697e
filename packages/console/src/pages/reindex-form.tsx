/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The form that reads blocks of a chain again. @module */
import { ActForm } from '../view/act-form.js'
import { ForRole } from '../view/for-role.js'
import { grouped } from '../view/text.js'

/** The form of a chain, with one button for each gap. */
export function ReindexForm(props: {
  chainId: number
  indexed: number | null
  gaps: readonly { readonly from: number; readonly to: number }[]
}) {
  const { chainId, indexed, gaps } = props
  if (indexed === null) return null
  return (
    <ForRole needs="operator">
      <p class="dim">
        A dry run reads blocks again, proves them and lists what differs from the stored payments. It writes nothing,
        and then offers the repair.
      </p>
      <div class="acts">
        <ActForm act="reindex" label="Dry run" needs="operator" fields={{ chain: chainId }}>
          <BlockField name="from" label="First block" chainId={chainId} required />
          <BlockField name="to" label="Last block" chainId={chainId} placeholder={String(indexed)} />
        </ActForm>
        {gaps.slice(0, 5).map(({ from, to }) => (
          <ActForm
            act="reindex"
            label={`Dry run of the gap ${grouped(from)} to ${grouped(to)}`}
            needs="operator"
            fields={{ chain: chainId, from, to }}
          />
        ))}
      </div>
    </ForRole>
  )
}

function BlockField(props: {
  name: 'from' | 'to'
  label: string
  chainId: number
  required?: boolean
  placeholder?: string
}) {
  const { name, label, chainId, required, placeholder } = props
  const id = `${name}-${chainId}`
  return (
    <label for={id}>
      <span>{label}</span>
      <input
        id={id}
        name={name}
        inputmode="numeric"
        pattern="\d{1,15}"
        required={required}
        placeholder={placeholder}
        autocomplete="off"
      />
    </label>
  )
}

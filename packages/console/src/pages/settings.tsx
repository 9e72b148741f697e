/** @jsxRuntime automatic @jsxImportSource hono/jsx */
/** The configuration variables in their groups. @module */
import { Empty, Shown } from '../view/parts.js'
import type { Load } from './page.js'

export const settingsPage: Load = async ({ settings = [] }) => {
  const groups = [...new Set(settings.map(({ section }) => section))]
  const body = (
    <>
      <h1>Settings</h1>
      {settings.length === 0 ? (
        <Empty title="The host passed no settings.">
          <p>Pass the settings of readConfig as the option settings of createConsole.</p>
        </Empty>
      ) : (
        <p class="dim">
          The values at the start of this process. Defaults are dimmed, secrets counted, and URLs cut to their host.
        </p>
      )}
      <nav class="totals" aria-label="Groups">
        {groups.map((group) => (
          <a href={`#${group.replaceAll(' ', '-')}`}>{group}</a>
        ))}
      </nav>
      {groups.map((group) => (
        <>
          <h2 id={group.replaceAll(' ', '-')}>{group}</h2>
          <dl class="facts wide settings">
            {settings
              .filter(({ section }) => section === group)
              .map(({ name, value, isDefault, doc }) => (
                <div>
                  <dt>{name}</dt>
                  <dd>
                    <span class={isDefault ? 'dim' : 'given'}>
                      <Shown text={value} max={400} />
                    </span>
                    <small>{doc}</small>
                  </dd>
                </div>
              ))}
          </dl>
        </>
      ))}
    </>
  )
  return { title: 'Settings', section: '/settings', body }
}

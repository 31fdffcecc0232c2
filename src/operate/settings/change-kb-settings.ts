import { DiffPool } from '../../compare/diff-pool.ts'
import { GanglionError, ValidationError } from '../../contract/errors.ts'
import { recordAct } from '../../kb/access/audit.ts'
import type { Context } from '../../kb/context.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { blobAtPath } from '../../kb/projection/file-queries.ts'
import { commitToMain } from '../../kb/writing/commits.ts'
import { editKbFile, parseKbFile } from '../../markdown/file/kb-file.ts'
import { problemsInSettings } from '../../push/checks/check-tip.ts'
import { actorOf, type Caller } from '../../rules/access/caller.ts'
import type { SettingsProblem } from '../../rules/kb-settings.ts'
import { editsOf, type SettingName, type SettingValues, settingNames, valuesOf } from './setting-values.ts'

export type KbSettingsForm = {
  slug: string
  title: string
  /** Object id of the `kb.yaml` with these values; empty if there is none. */
  base: string
  values: SettingValues
  /** Problems of `kb.yaml`. While it has an error, a form cannot change it. */
  problems: SettingsProblem[]
}

export type SettingsChange = {
  /** Object id of the `kb.yaml` that the form showed. */
  base: string
  values: SettingValues
}

export type SettingsPreview = { changed: SettingName[]; diff: string }

/** Thrown if others have changed the settings since the form was shown. */
export class SettingsChanged extends GanglionError {
  /** Settings that others have changed, and all settings when the form was shown. */
  readonly changed: readonly SettingName[]
  readonly before: SettingValues

  constructor(changed: readonly SettingName[], before: SettingValues) {
    super('merge_conflict', 'The settings have changed since this page was shown.')
    this.changed = changed
    this.before = before
  }
}

type Planned = { text: string; before: string; changed: SettingName[] }

export async function readKbSettings(ctx: Context, caller: Caller, kbName: string): Promise<KbSettingsForm> {
  const kb = await ctx.kb(caller.tenantId, kbName)
  const base = blobAtPath(kb.projection.read, 'kb.yaml') ?? ''
  const text = base === '' ? '' : await kb.repository.readText(base)
  const { settings, problems } = parseKbFile(text)
  const { slug } = kb.identity
  return { slug, title: settings.title ?? slug, base, values: valuesOf(settings), problems }
}

/**
 * Returns the change of the settings that a commit would make.
 * @throws {GanglionError} `not_found`
 * @throws {SettingsChanged}
 * @throws {ValidationError} by setting, by the rules of a push
 */
export async function previewKbSettings(
  ctx: Context,
  caller: Caller,
  kbName: string,
  change: SettingsChange,
): Promise<SettingsPreview> {
  const kb = await ctx.kb(caller.tenantId, kbName)
  const readText = (oid: string) => kb.repository.readText(oid)
  const { text, before, changed } = await plan(kb, blobAtPath(kb.projection.read, 'kb.yaml'), change, readText)
  return { changed, diff: (await ctx.threads.of(DiffPool).diff(before, text)).diff }
}

/**
 * Changes the settings by a commit on main in the caller's name.
 * @returns the commit; undefined if nothing differs
 * @throws as {@link previewKbSettings}
 */
export async function changeKbSettings(
  ctx: Context,
  caller: Caller,
  kbName: string,
  change: SettingsChange,
): Promise<string | undefined> {
  const kb = await ctx.kb(caller.tenantId, kbName)
  const by = actorOf(caller)
  const commit = await kb.write(async (staging) => {
    const blob = blobAtPath(kb.projection.write, 'kb.yaml')
    const { text, before, changed } = await plan(kb, blob, change, (oid) => staging.readText(oid))
    if (text === before) return undefined
    return commitToMain(kb, staging, {
      files: new Map([['kb.yaml', text]]),
      subject: `Change the settings: ${changed.join(', ')}`,
      trailers: [['Connector', 'console']],
      decided: { by, of: [] },
      at: ctx.now(),
    })
  })
  const { slug } = kb.identity
  if (commit !== undefined) await recordAct(ctx, caller, { action: 'settings.changed', subject: slug, detail: commit })
  return commit
}

async function plan(
  kb: KnowledgeBase,
  blob: string | undefined,
  { base, values }: SettingsChange,
  readText: (oid: string) => Promise<string>,
): Promise<Planned> {
  const before = blob === undefined ? '' : await readText(blob)
  const now = valuesOf(parseKbFile(before).settings)
  if ((blob ?? '') !== base) {
    const shown = await valuesAt(kb, base)
    throw new SettingsChanged(
      settingNames.filter((name) => shown?.[name] !== now[name]),
      shown ?? now,
    )
  }
  refuse(problemsInSettings(kb.identity, before), 'kb.yaml has errors: mend it by a push first.')
  const changed = settingNames.filter((name) => values[name].trim() !== now[name].trim())
  const edits = changed.flatMap((name) => editsOf(name, values[name], now))
  const text = editKbFile(before, edits)
  refuse(problemsInSettings(kb.identity, text))
  return { text, before, changed: text === before ? [] : changed }
}

/** Returns the settings of an earlier `kb.yaml`; undefined if the repository lacks it. */
async function valuesAt(kb: KnowledgeBase, blob: string): Promise<SettingValues | undefined> {
  const isThere = /^[0-9a-f]{40,64}$/.test(blob) && (await kb.repository.find(blob))?.type === 'blob'
  return isThere ? valuesOf(parseKbFile(await kb.repository.readText(blob)).settings) : undefined
}

/** Throws if any problem is an error. @throws {ValidationError} */
function refuse(problems: readonly SettingsProblem[], asAWhole?: string): void {
  const errors = problems.filter(({ severity }) => severity === 'error')
  if (errors.length === 0) return
  if (asAWhole !== undefined) throw new ValidationError({}, [asAWhole])
  const fieldErrors: Record<string, string[]> = {}
  const formErrors: string[] = []
  for (const { path, message } of errors) {
    // An item of a list, or of the connectors, is reported at its own path.
    const name = settingNames.find((each) => path === each || path.startsWith(`${each}.`))
    if (name === undefined) formErrors.push(path === '' ? message : `${path} ${message}`)
    else fieldErrors[name] = [...(fieldErrors[name] ?? []), message]
  }
  throw new ValidationError(fieldErrors, formErrors)
}

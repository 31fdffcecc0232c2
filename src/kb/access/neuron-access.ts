import type { NeuronFile } from '../../markdown/file/neuron-file.ts'
import { allTags } from '../../markdown/page-tags.ts'
import type { Access } from '../../rules/access/audience.ts'
import type { KbSettings } from '../../rules/kb-settings.ts'

type Page = Pick<NeuronFile, 'fields' | 'extra' | 'content'>

/** Returns the audience and tags of a page, which decide who may see it. */
export function accessIn(page: Page, settings: Pick<KbSettings, 'inlineTags'>): Access {
  return { audience: page.fields.audience, tags: allTags(page, settings) }
}

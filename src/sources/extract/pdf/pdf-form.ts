import type { FormField } from '@llamaindex/liteparse'
import { inlineText } from '../markdown/inline-text.ts'

/** Flags of a field (ISO 32000-1, 12.7.4): one that hides what is typed. */
const isPassword = 1 << 13
const maxFields = 1000
const maxValue = 10_000

/** The fields of a form that somebody has filled, as items of a list: what they are called, and what stands in them. */
export function filledFields(fields: readonly FormField[]): string[] {
  return fields.slice(0, maxFields).flatMap((field) => {
    const value = textOfField(field)
    if (value === '') return []
    const name = inlineText(field.alternateName || field.name || '')
    return [`- ${name === '' ? '' : `${name}: `}${inlineText(value.slice(0, maxValue))}`]
  })
}

function textOfField({ type, fieldFlags, value, exportValue, checked, selectedOptions }: FormField): string {
  if (/checkbox|radio/i.test(type)) {
    if (!checked) return ''
    return exportValue && !/^(?:on|yes|1)$/i.test(exportValue) ? exportValue : 'yes'
  }
  if (/button|signature/i.test(type) || (fieldFlags & isPassword) !== 0) return ''
  return (selectedOptions.length > 0 ? selectedOptions.join(', ') : (value ?? '')).trim()
}

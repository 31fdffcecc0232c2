import { maxTestFileBytes } from '../../contract/answer-tests.ts'
import { isTestPath, parseTestFile } from '../../markdown/file/test-file.ts'
import { checkContent, hasCheckedContent } from '../../rules/check/check-content.ts'
import type { CheckedFile } from '../../rules/check/checked-file.ts'

/** True if the content of a file that is no page is checked. */
export function isReadByCheck(file: { path: string; size: number }): boolean {
  return hasCheckedContent(file) || (isTestPath(file.path) && file.size <= maxTestFileBytes)
}

/** Returns the findings about the text of a file that is no page. */
export function checkOtherFile(path: string, text: string): NonNullable<CheckedFile['findings']> {
  return [...checkContent(path, text), ...(isTestPath(path) ? parseTestFile(text).findings : [])]
}

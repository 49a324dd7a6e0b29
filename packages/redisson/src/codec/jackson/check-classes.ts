import { DelayQueueError } from 'nestjs-delay-queue';
import { type ClassModel, isFinal } from '../java/class-model.js';
import type { JavaType } from '../java/java-type.js';

/** Classes whose values Jackson writes alike everywhere. */
const ALIKE = new Set(['String', 'Integer', 'Boolean', 'Double'].map((name) => `java.lang.${name}`));

/**
 * Checks what matters only to Jackson. It omits a final class of a value where a type argument names it. The declaration of a class with
 * type parameters does not say which of its fields have that type.
 * @throws DelayQueueError `INVALID_OPTION`, naming the class and the field
 */
export function checkForJackson(model: ClassModel): void {
  for (const declared of model.values()) {
    if (declared.kind === 'enum') continue;
    for (const [field, type] of declared.fields) {
      const problem = problemWith(type, model);
      if (problem !== undefined) {
        throw new DelayQueueError('INVALID_OPTION', `classes: ${declared.name}.${field}: ${problem}`);
      }
    }
  }
}

function problemWith({ name, element, arguments: args }: JavaType, model: ClassModel): string | undefined {
  if (element !== undefined) return problemWith(element, model);
  const hidden = model.has(name) && args?.find((argument) => isFinal(model, argument) && !ALIKE.has(argument.name));
  if (hidden) {
    return `${name} with ${hidden.name} as its type argument cannot be declared: Jackson leaves out this class in its fields`;
  }
  return args?.map((argument) => problemWith(argument, model)).find((problem) => problem !== undefined);
}

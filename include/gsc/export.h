#pragma once
// GSC_EXPORT stands before what the shared libraries show: functions, and classes with members or type information in a
// library. All else is hidden. In src/ it stands before the little that one of our libraries uses of another.

#if defined(__GNUC__)
#define GSC_EXPORT __attribute__((visibility("default")))
#else
#define GSC_EXPORT
#endif

# The shared and the static library are made from the same objects. The C compiler links both, so
# the libraries that CUDA objects need are named here (decision 4).
set(HYBRID_LINK PkgConfig::HWLOC ZLIB::ZLIB ${HYBRID_ZSTD_TARGET} Threads::Threads m)
if(HYBRID_WITH_CUDA)
  list(APPEND HYBRID_LINK CUDA::cudart_static stdc++)
endif()
if(HYBRID_WITH_HDF5)
  list(APPEND HYBRID_LINK PkgConfig::HDF5)
endif()
if(HYBRID_WITH_LIBDEFLATE)
  list(APPEND HYBRID_LINK PkgConfig::LIBDEFLATE)
endif()
foreach(kind IN ITEMS shared static)
  string(TOUPPER ${kind} KIND)
  add_library(hybrid_spmm_${kind} ${KIND} $<TARGET_OBJECTS:hybrid_objects>)
  target_include_directories(hybrid_spmm_${kind} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(hybrid_spmm_${kind} PRIVATE ${HYBRID_LINK})
  set_target_properties(hybrid_spmm_${kind} PROPERTIES OUTPUT_NAME hybrid_spmm LINKER_LANGUAGE C)
endforeach()

set(map ${PROJECT_SOURCE_DIR}/cmake/exports.map)
target_link_libraries(hybrid_spmm_shared PRIVATE $<BUILD_INTERFACE:hybrid_flags>)
target_link_options(hybrid_spmm_shared PRIVATE LINKER:--version-script=${map})
set_target_properties(hybrid_spmm_shared PROPERTIES
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  EXPORT_NAME hybrid_spmm LINK_DEPENDS ${map})
set_target_properties(hybrid_spmm_static PROPERTIES EXPORT_NAME static)
add_library(hybrid_spmm::hybrid_spmm ALIAS hybrid_spmm_shared)
add_library(hybrid_spmm::static ALIAS hybrid_spmm_static)
